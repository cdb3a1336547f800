#if Inspector
/// What pages do besides, where a browser runs scripts. All works without.
enum Script {
    static let version = Stylesheet.digest(text)

    static let text = #"""
        "use strict";
        (function () {
          var typing = function (target) {
            return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable;
          };
          // "/" goes to the query, j and k go through the rows, n and p through the pages.
          document.addEventListener("keydown", function (event) {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (event.key === "Enter" && event.target.id === "where" && event.target.tagName === "TEXTAREA" && !event.shiftKey) {
              event.preventDefault();
              event.target.form.requestSubmit();
              return;
            }
            if (typing(event.target)) return;
            if (event.key === "/") {
              var query = document.getElementById("where");
              if (query) { event.preventDefault(); query.focus(); query.select(); }
            } else if (event.key === "n" || event.key === "p") {
              var page = document.querySelector(event.key === "n" ? "a[rel=next]" : "a[rel=prev]");
              if (page) page.click();
            } else if (event.key === "j" || event.key === "k") {
              var links = Array.prototype.slice.call(document.querySelectorAll("table.records tbody th a, .timeline .no"));
              if (!links.length) return;
              var at = links.indexOf(document.activeElement);
              var next = event.key === "j" ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0);
              links[next].focus();
            }
          });
          // Entities take the whole width of a small window.
          var entities = document.querySelector("details.entities");
          if (entities && window.matchMedia("(max-width: 760px)").matches) entities.open = false;
          // A menu closes when something else is chosen.
          document.addEventListener("click", function (event) {
            document.querySelectorAll("details.menu[open]").forEach(function (menu) {
              if (!menu.contains(event.target)) menu.open = false;
            });
          });
          // Code can be copied.
          document.querySelectorAll("button.copy").forEach(function (button) {
            if (!navigator.clipboard) return;
            button.hidden = false;
            button.addEventListener("click", function () {
              navigator.clipboard.writeText(button.previousElementSibling.textContent).then(function () {
                button.textContent = "Copied";
                setTimeout(function () { button.textContent = "Copy"; }, 1500);
              });
            });
          });
          // Takes what was saved since into the timeline; all of it was made and escaped by the server.
          var take = function (version) {
            return fetch(location.href, { credentials: "same-origin" }).then(function (answer) {
              return answer.ok ? answer.text() : null;
            }).then(function (text) {
              var page = text && new DOMParser().parseFromString(text, "text/html");
              var old = document.querySelector("main .timeline, main .none");
              var next = page && page.querySelector("main .timeline, main .none");
              if (!old || !next) return;
              var known = {};
              old.querySelectorAll(".no").forEach(function (link) { known[link.textContent] = true; });
              next.querySelectorAll(".no").forEach(function (link) {
                if (!known[link.textContent]) link.closest("li").classList.add("new");
              });
              var focus = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
              old.replaceWith(document.adoptNode(next));
              next.querySelectorAll(".no").forEach(function (link) {
                if (focus && link.getAttribute("href") === focus) link.focus();
              });
              live.dataset.version = version;
            });
          };
          // Says when something was saved since.
          var live = document.querySelector(".live");
          if (live) {
            // After the last answer, so that a slow store has one such request at a time.
            var later = function () { setTimeout(look, 2000); };
            var look = function () {
              if (document.hidden) return later();
              fetch(live.dataset.href, { credentials: "same-origin" }).then(function (answer) {
                return answer.ok ? answer.json() : null;
              }).then(function (now) {
                if (!now || now.version === live.dataset.version) return;
                if (live.dataset.follows === "yes") return take(now.version);
                live.hidden = false;
              }).catch(function () {}).then(later);
            };
            later();
          }
          // A value that is typed is not nil.
          document.addEventListener("input", function (event) {
            var field = event.target.closest && event.target.closest(".field");
            var none = field && field.querySelector(".nil input");
            if (none && event.target !== none) none.checked = false;
          });
        })();

        """#
}
#endif
