#if Inspector
/// How pages look: on paper in the light, on slate in the dark.
enum Stylesheet {
    static let version = digest(text)

    /// Changes with the text, so that a browser keeps none that is out of date.
    static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 36)
    }

    static let text = colors + frame + content + forms

    private static let colors = """
        :root {
          color-scheme: light dark;
          --paper: #faf8f3; --card: #fffefb; --sunk: #f1ede4; --ink: #211d18; --soft: #675f54; --line: #e2dbcd;
          --accent: #97401b; --on-accent: #fffaf4; --wash: #f6e8dd; --steel: #45606d;
          --good: #2c6a3b; --bad: #a4271c; --warn: #7d5600; --good-wash: #e3f0e2; --bad-wash: #f9e3de; --warn-wash: #f6ebcf;
          --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
          --serif: ui-serif, "Iowan Old Style", "Palatino Linotype", Palatino, "Noto Serif", Georgia, serif;
          --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #171614; --card: #1e1c19; --sunk: #24211d; --ink: #ece6db; --soft: #a59c8f; --line: #37322b;
            --accent: #e39a70; --on-accent: #241006; --wash: #35251a; --steel: #93b0bd;
            --good: #8fc79a; --bad: #f0968a; --warn: #dfbb69; --good-wash: #1d2c20; --bad-wash: #391f1c; --warn-wash: #332a15;
          }
        }

        """

    private static let frame = """
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 var(--sans); }
        a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); }
        a:hover { text-decoration-color: currentColor; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
        main:focus { outline: none; }
        h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.2; text-wrap: balance; overflow-wrap: anywhere; }
        h1 { font-size: 1.75rem; margin: 0 0 1rem; letter-spacing: -.01em; }
        h1 small { font: 400 .9rem var(--sans); color: var(--soft); letter-spacing: 0; margin-left: .4rem; white-space: nowrap; font-variant-numeric: tabular-nums; }
        h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
        code, pre, .mono, .v.number, .exact { font-family: var(--mono); font-size: .86em; }
        small { color: var(--soft); font-size: .82em; }
        .skip { position: absolute; left: -99rem; }
        .skip:focus { left: 1rem; top: .5rem; z-index: 9; background: var(--card); padding: .4rem .8rem; }
        .top { display: flex; align-items: center; gap: .9rem; padding: .7rem clamp(.9rem, 3vw, 2rem); background: var(--card); border-bottom: 1px solid var(--line); }
        .brand { display: flex; align-items: center; gap: .5rem; font: 600 1.05rem var(--serif); color: var(--ink); text-decoration: none; }
        .brand .wood { fill: var(--accent); } .brand .steel { fill: var(--steel); }
        .where { flex: 1; min-width: 0; color: var(--soft); font: .85rem var(--mono); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-left: .9rem; border-left: 1px solid var(--line); }
        .menu { position: relative; overflow: visible; }
        .menu summary { cursor: pointer; overflow: hidden; text-overflow: ellipsis; }
        .menu ul { position: absolute; z-index: 5; left: .4rem; top: 1.9rem; margin: 0; padding: .4rem; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 28px #0003; min-width: 16rem; max-width: 90vw; }
        .menu a { display: block; padding: .35rem .6rem; border-radius: 5px; text-decoration: none; overflow: hidden; text-overflow: ellipsis; }
        .menu a:hover, .menu [aria-current] { background: var(--wash); }
        .mode { font-size: .75rem; color: var(--soft); border: 1px solid var(--line); border-radius: 99px; padding: .1rem .6rem; white-space: nowrap; }
        .mode.edit { color: var(--warn); border-color: currentColor; background: var(--warn-wash); }
        .tabs { display: flex; gap: .2rem; padding: 0 clamp(.4rem, 3vw, 1.5rem); background: var(--card); border-bottom: 1px solid var(--line); overflow-x: auto; scrollbar-width: none; }
        .tabs a { padding: .55rem .7rem .5rem; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; white-space: nowrap; }
        .tabs a:hover { color: var(--ink); }
        .tabs [aria-current] { color: var(--ink); border-color: var(--accent); font-weight: 600; }
        .badge { background: var(--accent); color: var(--on-accent); border-radius: 99px; font-size: .72rem; padding: .05rem .45rem; font-weight: 600; }
        .plain, .split { padding: 1.6rem clamp(.9rem, 3vw, 2rem) 4rem; }
        .plain main { max-width: 64rem; margin: 0 auto; }
        .split { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2.2rem; max-width: 110rem; }
        .side ul { list-style: none; margin: .3rem 0 0; padding: 0; }
        .side summary { cursor: pointer; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
        .side .sub { padding-left: .8rem; }
        .side a { display: flex; justify-content: space-between; gap: .6rem; padding: .28rem .6rem; margin: 0 -.6rem; border-radius: 5px; color: inherit; text-decoration: none; }
        .side a span { overflow: hidden; text-overflow: ellipsis; }
        .side a:hover { background: var(--sunk); }
        .side [aria-current] { background: var(--wash); color: var(--accent); font-weight: 600; }
        .side small { font-variant-numeric: tabular-nums; font-weight: 400; }
        @media (max-width: 760px) {
          .split { display: block; padding-top: 1rem; }
          .side { margin-bottom: 1.2rem; }
          .mode { display: none; } .mode.edit { display: inline; }
          .tabs { gap: 0; } .tabs a { padding: .5rem .48rem; font-size: .86rem; }
          h1 { font-size: 1.4rem; }
        }

        """

    private static let content = """
        .lead { font-size: 1.05rem; max-width: 44rem; }
        .note, .plan, .exports, .none { color: var(--soft); font-size: .88rem; }
        .error, .problems { color: var(--bad); background: var(--bad-wash); border-left: 3px solid currentColor; padding: .6rem .9rem; border-radius: 0 6px 6px 0; overflow-wrap: anywhere; }
        .error pre { margin: .4rem 0 0; overflow-x: auto; } .error p { margin: 0; }
        .problems { padding-left: 2rem; }
        .state { font-weight: 600; } .state::before { content: "● "; font-size: .8em; }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.1rem; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.3rem; }
        .card h2 { margin: 0 0 .2rem; font: 600 1rem var(--mono); } .card .state { margin: .2rem 0 .8rem; font-size: .85rem; }
        .card.broken { border-color: var(--bad); }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .7rem 1.4rem; margin: 0 0 1.4rem; }
        .facts dt { font-size: .75rem; color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        .tag, .tags li { display: inline-block; font-size: .74rem; line-height: 1.5; padding: 0 .5rem; border-radius: 99px; background: var(--sunk); color: var(--soft); text-decoration: none; }
        .tag.good { background: var(--good-wash); color: var(--good); } .tag.bad { background: var(--bad-wash); color: var(--bad); } .tag.warn { background: var(--warn-wash); color: var(--warn); }
        .tags { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem; }
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; }
        th, td { text-align: left; padding: .38rem .75rem; vertical-align: top; border-bottom: 1px solid var(--line); }
        tbody tr:last-child > * { border-bottom: 0; }
        thead th { font-size: .78rem; font-weight: 600; color: var(--soft); background: var(--sunk); white-space: nowrap; }
        thead a { color: inherit; text-decoration: none; } thead a:hover { color: var(--accent); }
        [aria-sort] a { color: var(--accent); } .arrow { display: inline-block; min-width: .9em; text-align: center; }
        tbody th { font-weight: 500; }
        .records tbody tr:hover, .records tbody tr:focus-within { background: var(--wash); }
        .records td { max-width: 24rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .records th[scope=row] { font-family: var(--mono); font-size: .82rem; }
        .records th a { text-decoration: none; display: block; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        .v.nil, .v.empty { color: var(--soft); font-style: italic; font-size: .85em; }
        .v.empty::before { content: "“"; } .v.empty::after { content: "”"; }
        .v.text { overflow-wrap: anywhere; }
        .v.bool { font: 600 .82em var(--mono); color: var(--steel); }
        .v.coded { color: var(--steel); } .v.data { white-space: nowrap; } .v.data b { font-weight: 500; font-size: .85em; } .v.data code { color: var(--soft); }
        .v.odd { font: 600 .84em var(--mono); color: var(--warn); background: var(--warn-wash); padding: 0 .35em; border-radius: 4px; }
        .scalar { font: normal .72em var(--mono); color: var(--bad); background: var(--bad-wash); border-radius: 3px; padding: 0 .25em; margin: 0 .1em; white-space: nowrap; }
        .exact { display: block; color: var(--soft); font-size: .76rem; }
        .ref { text-decoration: none; } .ref b { font: 500 .82em var(--mono); } .ref span { text-decoration: underline; text-decoration-color: var(--line); color: var(--ink); }
        .refs { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1rem; } .all { font-size: .85rem; }
        .whole { font-size: .8rem; white-space: nowrap; }
        .pager { display: flex; gap: 1rem; align-items: center; justify-content: flex-end; margin: .9rem 0; } .pager :first-child { margin-right: auto; }
        .plan code { overflow-wrap: anywhere; } .plan .tag { margin-right: .4rem; }
        .exports { display: flex; flex-wrap: wrap; gap: .2rem .8rem; } .exports span:not(:first-child) { margin-left: .8rem; }
        .facet-menu { display: flex; flex-wrap: wrap; gap: .1rem .7rem; font-size: .85rem; margin: 0 0 .8rem; } .facet-menu span { color: var(--soft); } .facet-menu a { text-decoration: none; } .facet-menu [aria-current] { font-weight: 700; }
        .facets { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .4rem 1rem .8rem; margin: 0 0 1rem; max-width: 46rem; } .facets h2 { margin: .5rem 0; font-size: 1rem; } .bar { width: 40%; }
        meter { width: 100%; height: .55rem; border: 0; border-radius: 3px; background: var(--sunk); }
        meter::-webkit-meter-bar { background: var(--sunk); border: 0; border-radius: 3px; height: .55rem; } meter::-webkit-meter-optimum-value { background: var(--accent); border-radius: 3px; } meter::-moz-meter-bar { background: var(--accent); }
        .graph { margin: 0 0 1.6rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem; }
        .graph svg { display: block; width: 100%; height: auto; max-height: 30rem; }
        .graph .line { fill: none; stroke: var(--steel); stroke-width: 1.3; opacity: .65; } .graph .is { stroke-dasharray: 4 4; }
        .graph rect { fill: var(--paper); stroke: var(--line); stroke-width: 1.2; } .graph a:hover rect, .graph a:focus rect { stroke: var(--accent); fill: var(--wash); }
        .graph text { font: 600 12px var(--sans); fill: var(--ink); text-anchor: middle; } .graph .count { font: 10px var(--mono); fill: var(--soft); }
        .schema { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 1.1rem; align-items: start; }
        .entity { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; } .entity:target { border-color: var(--accent); }
        .entity h2 { margin: 0; padding: .7rem .9rem; border-bottom: 1px solid var(--line); font-size: 1.05rem; display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; } .entity h2 a { text-decoration: none; } .entity .count { margin-left: auto; font-family: var(--sans); font-weight: 400; }
        .entity td, .entity th { padding: .25rem .9rem; } .rule { margin: .4rem .9rem; font-size: .82rem; color: var(--soft); } .more { margin-top: 1.6rem; }
        h1 .kind { font-size: .62em; vertical-align: middle; font-family: var(--sans); text-decoration: none; background: var(--wash); padding: .15em .6em; border-radius: 99px; } h1 .key { font-family: var(--mono); font-size: .85em; color: var(--soft); font-weight: 400; } h1 .title { margin-left: .2em; }
        .record { margin: 0; border: 1px solid var(--line); border-radius: 10px; background: var(--card); overflow: hidden; }
        .record > div { display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr); border-bottom: 1px solid var(--line); } .record > div:last-child { border-bottom: 0; }
        .record dt { padding: .5rem 1rem; background: var(--sunk); font-weight: 600; font-size: .88rem; overflow-wrap: anywhere; } .record dt small { display: block; font: .76rem var(--mono); }
        .record dd { margin: 0; padding: .5rem 1rem; overflow-wrap: anywhere; white-space: pre-line; } .record dd > * { white-space: normal; } .record dd .v.text { white-space: pre-wrap; }
        .timeline { list-style: none; margin: 0; padding: 0; } .timeline > li { display: grid; grid-template-columns: 4.2rem 11rem minmax(7rem, 14rem) 9rem 1fr; gap: .2rem 1rem; align-items: baseline; padding: .45rem 0; border-bottom: 1px solid var(--line); }
        .timeline .no { font: 500 .88rem var(--mono); text-align: right; text-decoration: none; } time { font-variant-numeric: tabular-nums; font-size: .86rem; color: var(--soft); white-space: nowrap; } time b { color: var(--ink); font-weight: 500; }
        .counts { font: .86rem var(--mono); } .plus { color: var(--good); } .tilde { color: var(--warn); } .minus { color: var(--bad); } .what { color: var(--soft); font-size: .88rem; } .by { overflow: hidden; text-overflow: ellipsis; }
        .timeline .changes { grid-column: 2 / -1; } .meta { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; }
        .changes { list-style: none; margin: 0 0 .6rem; padding: 0; } .changes li { color: inherit; padding: .4rem 0 .4rem .9rem; border-left: 3px solid var(--line); margin: .4rem 0; } .changes .plus { border-color: var(--good); } .changes .tilde { border-color: var(--warn); } .changes .minus { border-color: var(--bad); }
        .verb { font-size: .74rem; color: var(--soft); text-transform: uppercase; letter-spacing: .04em; } .changes dl { margin: .2rem 0 0; display: grid; gap: .1rem; } .changes dl div { display: grid; grid-template-columns: minmax(5rem, 9rem) minmax(0, 1fr); gap: .8rem; font-size: .88rem; } .changes dt { color: var(--soft); } .changes dd { margin: 0; overflow-wrap: anywhere; }
        del { text-decoration: line-through; text-decoration-color: var(--bad); opacity: .75; } ins { text-decoration: none; }
        .timeline .new { animation: arrive 2.5s ease-out; } @keyframes arrive { from { background: var(--wash); } }
        .source { margin: .2rem 0 .8rem; font-size: .88rem; } .source summary { cursor: pointer; color: var(--soft); } .source pre { margin: .5rem 0; padding: .7rem .9rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; } .source .copy { padding: .15rem .7rem; font-size: .8rem; }
        .hex { margin: 0; padding: .7rem .9rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; line-height: 1.45; } .part h2 { margin: 1.4rem 0 .2rem; font-size: 1rem; overflow-wrap: anywhere; } .part .meta { margin: 0 0 .4rem; align-items: baseline; font-size: .86rem; }
        .filter.between { grid-template-columns: minmax(0, 9rem) minmax(0, 9rem) auto; justify-content: start; margin-top: 1.2rem; }
        .live { position: sticky; bottom: 1rem; background: var(--ink); color: var(--paper); padding: .6rem 1rem; border-radius: 8px; width: fit-content; } .live[hidden] { display: none; } .live a { color: inherit; font-weight: 600; }
        .explanation { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.2rem; margin-bottom: 1.2rem; } .explanation table { margin-bottom: 1rem; } .explanation .facts { margin: 0; } .detail { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 .8rem; } .explanation td:first-child { width: 1%; white-space: nowrap; }
        @media (max-width: 760px) {
          .record > div { grid-template-columns: 1fr; } .record dt small { display: inline; margin-left: .5rem; } .record dt { padding: .35rem .9rem; } .record dd { padding: .45rem .9rem; }
          .timeline > li { grid-template-columns: 3rem 1fr auto; } .timeline .by { grid-column: 2 / -1; } .timeline .what { grid-column: 2 / -1; } .timeline .changes { grid-column: 1 / -1; }
          .records td { max-width: 15rem; } th, td { padding: .34rem .55rem; } .facts { grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); }
        }
        @media (prefers-reduced-motion: no-preference) { a, button, .card, .graph rect { transition: background-color .12s, border-color .12s, color .12s; } }
        @media print { .top, .tabs, .side, .filter, .pager, .exports, .facet-menu, .actions { display: none; } .split { display: block; } }

        """

    private static let forms = """
        input, textarea, select, button, .button { font: inherit; color: inherit; }
        input:not([type=checkbox]), textarea, select { width: 100%; background: var(--card); border: 1px solid color-mix(in srgb, var(--soft) 45%, var(--line)); border-radius: 6px; padding: .42rem .6rem; font: .86rem var(--mono); }
        input:focus-visible, textarea:focus-visible, select:focus-visible { outline-offset: 0; border-color: var(--accent); }
        ::placeholder { color: var(--soft); opacity: .7; }
        [aria-invalid] { border-color: var(--bad) !important; }
        input[type=checkbox] { accent-color: var(--accent); }
        button, .button { display: inline-block; cursor: pointer; background: var(--accent); color: var(--on-accent); border: 1px solid var(--accent); border-radius: 6px; padding: .4rem .95rem; font-size: .9rem; font-weight: 600; text-decoration: none; white-space: nowrap; }
        button:hover, .button:hover { filter: brightness(1.08); }
        .quiet, .danger { background: none; color: var(--ink); border-color: var(--line); font-weight: 500; } .danger { color: var(--bad); }
        .filter { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 1fr) minmax(0, 1.4fr) auto; gap: .7rem; align-items: end; margin-bottom: 1rem; }
        .filter label span { display: block; font-size: .75rem; color: var(--soft); margin-bottom: .15rem; }
        .filter.console { grid-template-columns: minmax(0, 1fr) auto; } .actions { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; } .actions form { display: flex; gap: .5rem; }
        main > .actions { margin: 1.1rem 0; }
        .edit { max-width: 52rem; } .field { display: grid; grid-template-columns: minmax(9rem, 14rem) minmax(0, 1fr) 4rem; gap: .2rem .9rem; padding: .5rem 0; border-bottom: 1px solid var(--line); align-items: start; } .field .label { font-weight: 600; font-size: .88rem; padding-top: .35rem; overflow-wrap: anywhere; } .field .label small { display: block; font: .76rem var(--mono); } .nil { font-size: .82rem; color: var(--soft); padding-top: .4rem; } .edit > .actions { margin-top: 1rem; }
        .inline { display: inline-flex; gap: .5rem; margin: 0; } .drops { list-style: none; padding: 0; } .drops li { display: flex; gap: .8rem; align-items: center; padding: .25rem 0; } .drops button { padding: .1rem .6rem; font-size: .8rem; }
        @media (max-width: 760px) {
          .filter { grid-template-columns: 1fr 1fr; } .filter .wide, .filter .actions { grid-column: 1 / -1; } .filter.console { grid-template-columns: 1fr; }
          .field { grid-template-columns: minmax(0, 1fr) auto; } .field .label { grid-column: 1 / -1; } .field .label small { display: inline; margin-left: .5rem; }
        }

        """
}
#endif
