// The list of columns: search, filters, roles for one or many. Only the rows in sight are in the page, so that a table
// of 500 columns answers like one of five. Names are a person's own text: they are only ever set as text.
(() => {
  const HEIGHTS = [[1000, 74], [620, 116], [0, 196]]; // pixels of a row, by the width of the window
  const FAULT = 96; // more pixels for a row with something wrong
  const MARGIN = 400; // pixels drawn above and below the rows in sight

  const make = (name, about = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(about)) {
      if (key === "text") element.textContent = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...inside);
    return element;
  };
  const counted = (number) => number.toLocaleString("en-US");

  class Columns extends HTMLElement {
    connectedCallback() {
      if (this.list) return;
      this.roles = JSON.parse(this.dataset.roles);
      this.all = [];
      this.shown = [];
      this.chosen = new Set();
      this.nodes = new Map();
      // What could not be sent survives a reload of this tab.
      this.kept = `pv-roles-${this.dataset.table}`;
      this.changes = JSON.parse(sessionStorage.getItem(this.kept) ?? "[]");
      this.build();
      this.resized = () => this.measure();
      // Who leaves at once loses nothing.
      this.left = () => this.changes.length && !this.lost && fetch(`/api/tables/${this.dataset.table}/roles`, this.post(this.changes.splice(0)));
      // Who follows a link goes when all is saved: a page that is drawn before would draw itself again under a click.
      this.leave = async (event) => {
        const link = event.target.closest?.("a[href]");
        if (!link || !this.busy || this.lost || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        while (this.busy) await new Promise((resolve) => setTimeout(resolve, 20));
        location.assign(link.href);
      };
      window.addEventListener("resize", this.resized);
      window.addEventListener("pagehide", this.left);
      document.addEventListener("click", this.leave);
      this.changes.length ? this.send() : this.refresh();
    }

    disconnectedCallback() {
      window.removeEventListener("resize", this.resized);
      window.removeEventListener("pagehide", this.left);
      document.removeEventListener("click", this.leave);
    }

    build() {
      this.figures = make("div", { class: "pv-row pv-figures" });
      this.problem = make("div", { role: "alert" });
      this.search = make("input", { type: "search", class: "pv-field", placeholder: "Search columns", "aria-label": "Search columns", oninput: () => this.filter() });
      this.byRole = this.select("Filter by role", { "": "All roles", undecided: "Undecided", ...this.titles() });
      this.byType = this.select("Filter by type", { "": "All types", ...JSON.parse(this.dataset.types) });
      this.count = make("span", { class: "pv-hint", role: "status" });
      this.every = make("input", { type: "checkbox", onchange: () => this.chooseAll(this.every.checked) });
      this.bulk = make("div", { class: "pv-row pv-bulk", hidden: true });
      this.rows = make("div", { class: "pv-list", role: "list", "aria-label": "Columns" });
      this.list = make("div", { class: "pv-window", onscroll: () => this.draw(), onkeydown: (event) => this.key(event) }, this.rows);
      const tools = make("div", { class: "pv-row pv-tools" }, this.search, this.byRole, this.byType, make("label", { class: "pv-check" }, this.every, "Select all shown"), this.count);
      const hint = make("p", { class: "pv-hint", text: `Keyboard: up and down move between columns, left and right or 1 to ${Object.keys(this.roles).length} choose the role, Ctrl+A selects all shown, Ctrl+Z undoes.` });
      this.append(
        make("section", { class: "pv-card pv-standing" }, this.figures),
        make("section", { class: "pv-card" }, tools, this.bulk, this.problem, this.list, hint),
      );
    }

    titles() {
      return Object.fromEntries(Object.entries(this.roles).map(([key, [title]]) => [key, title]));
    }

    select(label, options) {
      const box = make("select", { class: "pv-field", "aria-label": label, onchange: () => this.filter() });
      for (const [value, title] of Object.entries(options)) box.append(make("option", { value, text: title }));
      return box;
    }

    // -- what the server knows ------------------------------------------------------------------------------------

    async refresh(version) {
      if (version !== undefined && version === this.version) return;
      // What is on its way may be older than what this is about: ask once more after it.
      this.stale = this.changes.length > 0 || Boolean(this.busy);
      if (!this.stale) await this.ask("columns");
    }

    // One request at a time, so that changes reach the server in the order they were made.
    async send() {
      clearTimeout(this.again);
      while (this.changes.length && !this.busy) {
        const sent = this.changes.splice(0);
        await this.ask("roles", sent);
        if (!this.lost) {
          sessionStorage.removeItem(this.kept);
          continue;
        }
        this.changes.unshift(...sent);
        sessionStorage.setItem(this.kept, JSON.stringify(this.changes));
        this.again = setTimeout(() => this.send(), 2000);
        return;
      }
    }

    async ask(what, changes) {
      this.busy = true;
      this.list.setAttribute("aria-busy", "true");
      try {
        const answer = await fetch(`/api/tables/${this.dataset.table}/${what}`, changes && this.post(changes));
        const found = await answer.json();
        if (!answer.ok) throw new Error(found.detail?.message ?? found.detail);
        this.lost = false;
        if (!this.changes.length) this.take(found);
      } catch (error) {
        // No answer, or the page of a workbench that was started again, is no answer to the changes.
        this.lost = error instanceof TypeError || error instanceof SyntaxError;
        const words = this.lost ? "The workbench does not answer." : error.message;
        const remedy = this.lost ? "Your changes are kept in this tab, and saved as soon as it answers." : "Reload the page.";
        this.problem.replaceChildren(this.notice(words, remedy));
      }
      this.busy = false;
      this.list.setAttribute("aria-busy", String(this.changes.length > 0));
      if (this.stale && !this.changes.length && !this.lost) {
        this.stale = false;
        await this.ask("columns");
      }
    }

    post(changes) {
      const body = JSON.stringify({ changes });
      // A browser sends no more than 64 kB after the page is left.
      return { method: "POST", keepalive: body.length < 60_000, headers: { "Content-Type": "application/json" }, body };
    }

    take(found) {
      this.version = found.version;
      this.all = found.columns;
      this.problem.replaceChildren(...found.faults.map((fault) => this.notice(fault.rule, fault.remedy)));
      this.filter(true);
      this.stand();
      clearTimeout(this.counting);
      this.counting = setTimeout(() => this.countAlone(), 150);
    }

    notice(rule, remedy) {
      const box = make("div", { class: "pv-notice pv-error" }, make("p", { text: rule }));
      if (remedy) box.append(make("p", { class: "pv-remedy", text: remedy }));
      return box;
    }

    async countAlone() {
      const answer = await fetch(`/api/tables/${this.dataset.table}/standing`).catch(() => null);
      if (!answer?.ok) return;
      this.alone = await answer.json();
      this.stand();
    }

    stand() {
      const figure = (value, label, tone = "") =>
        make("div", { class: `pv-figure ${tone}` }, make("span", { class: "pv-figure-value", text: value }), make("span", { class: "pv-figure-label", text: label }));
      const parts = [];
      if (this.alone) {
        const share = this.alone.alone / Math.max(this.alone.rows, 1);
        parts.push(
          make("div", { class: "pv-row pv-figures", role: "status", "aria-live": "polite" },
            figure(`${counted(this.alone.alone)} of ${counted(this.alone.rows)}`, "rows identified by the quasi-identifiers alone", share > 0.05 ? "pv-bad" : ""),
            figure(`${(100 * share).toFixed(1)} %`, "of the people in the table")),
        );
      }
      const number = Object.fromEntries(Object.keys(this.roles).map((key) => [key, 0]));
      for (const column of this.all) if (column.role in number) number[column.role] += 1;
      for (const [key, title] of Object.entries(this.titles())) parts.push(figure(counted(number[key]), title.toLowerCase()));
      parts.push(figure(counted(this.all.filter((column) => column.undecided).length), "undecided"));
      this.figures.replaceChildren(...parts);
    }

    // -- which columns are shown ----------------------------------------------------------------------------------

    filter(keep = false) {
      const wanted = this.search.value.trim().toLowerCase();
      const { value: role } = this.byRole, { value: type } = this.byType;
      const fits = (column) =>
        (!wanted || column.name.toLowerCase().includes(wanted)) &&
        (!role || (role === "undecided" ? column.undecided : column.role === role)) &&
        (!type || column.type === type);
      // A column that is being edited stays until the filter itself changes: it must not vanish under the hand.
      const before = keep ? new Set(this.shown.map((column) => column.name)) : null;
      this.shown = this.all.filter((column) => fits(column) || before?.has(column.name));
      this.count.textContent = this.shown.length === this.all.length ? `${counted(this.all.length)} columns` : `${counted(this.shown.length)} of ${counted(this.all.length)} columns`;
      if (!keep) this.list.scrollTop = 0;
      const focused = this.focused;
      this.nodes.forEach((node) => node.remove());
      this.nodes.clear();
      this.measure();
      if (keep && focused) this.focusAt(this.shown.findIndex((column) => column.name === focused.name), focused.part);
      this.showBulk();
    }

    measure() {
      const base = HEIGHTS.find(([width]) => window.innerWidth > width)[1];
      this.tops = [0];
      for (const column of this.shown) this.tops.push(this.tops.at(-1) + base + (column.faults.length ? FAULT : 0));
      this.rows.style.height = `${this.tops.at(-1)}px`;
      this.nodes.forEach((node, at) => this.place(node, at));
      this.draw();
    }

    place(node, at) {
      node.style.top = `${this.tops[at]}px`;
      node.style.height = `${this.tops[at + 1] - this.tops[at]}px`;
    }

    draw() {
      const top = this.list.scrollTop - MARGIN, end = this.list.scrollTop + this.list.clientHeight + MARGIN;
      const inSight = (at) => this.tops[at + 1] > top && this.tops[at] < end;
      this.nodes.forEach((node, at) => {
        if (inSight(at) || node.contains(document.activeElement)) return;
        node.remove();
        this.nodes.delete(at);
      });
      for (let at = 0; at < this.shown.length && this.tops[at] < end; at++) {
        if (!inSight(at) || this.nodes.has(at)) continue;
        const node = this.row(this.shown[at], at);
        const after = [...this.rows.children].find((other) => Number(other.dataset.at) > at);
        this.rows.insertBefore(node, after ?? null);
        this.nodes.set(at, node);
      }
    }

    row(column, at) {
      const tick = make("input", { type: "checkbox", class: "pv-tick", "aria-label": `Select ${column.name}`, onclick: (event) => this.tick(at, event) });
      tick.checked = this.chosen.has(column.name);
      const group = make("div", { class: "pv-roles", role: "radiogroup", "aria-label": `Role of ${column.name}` });
      Object.entries(this.roles).forEach(([key, [title, meaning]], place) => {
        const on = column.role === key;
        group.append(make("button", { class: `pv-${key}`, type: "button", role: "radio", "aria-checked": String(on), title: meaning, text: title, "data-role": key,
          tabindex: on || (!(column.role in this.roles) && place === 0) ? 0 : -1, onclick: () => this.set([column.name], key) }));
      });
      const why = make("div", { class: "pv-row pv-why pv-between pv-nowrap" }, make("p", { class: "pv-hint pv-clamp", title: column.why, text: column.why }));
      if (["quasi", "sensitive"].includes(column.role) && column.position !== null) {
        const label = column.role === "quasi" ? "Hierarchy" : "Hierarchy and levels";
        why.append(make("a", { class: "pv-link", href: `/columns/${this.dataset.table}/${column.position}`, "aria-label": `${label} of ${column.name}`, text: label }));
      }
      const name = make("div", { class: "pv-stack pv-tight" }, make("h2", { class: "pv-h3 pv-clamp", title: column.name, text: column.name }), make("p", { class: "pv-hint", text: column.kind + (column.undecided ? ", undecided" : "") }));
      const node = make("div", { class: "pv-column-row", role: "listitem", "aria-setsize": this.shown.length, "aria-posinset": at + 1, "data-at": at }, tick, name, group, why);
      if (column.faults.length) node.append(make("div", { class: "pv-wide" }, ...column.faults.map((fault) => this.notice(fault.rule, fault.remedy))));
      this.place(node, at);
      return node;
    }

    // -- changing -------------------------------------------------------------------------------------------------

    set(names, role) {
      const wanted = new Set(names);
      // Shown at once; what the server answers then takes its place.
      for (const column of this.all) if (wanted.has(column.name)) Object.assign(column, { role, undecided: false });
      this.filter(true);
      this.stand();
      this.changes.push({ columns: names, role });
      this.send();
    }

    tick(at, event) {
      const names = this.shown.map((column) => column.name);
      const from = event.shiftKey && this.anchor !== undefined ? Math.min(this.anchor, at) : at;
      const to = event.shiftKey && this.anchor !== undefined ? Math.max(this.anchor, at) : at;
      for (const name of names.slice(from, to + 1)) event.target.checked ? this.chosen.add(name) : this.chosen.delete(name);
      this.anchor = at;
      this.showChosen();
    }

    chooseAll(on) {
      for (const column of this.shown) on ? this.chosen.add(column.name) : this.chosen.delete(column.name);
      this.showChosen();
    }

    showChosen() {
      this.nodes.forEach((node, at) => { node.querySelector(".pv-tick").checked = this.chosen.has(this.shown[at].name); });
      this.showBulk();
    }

    showBulk() {
      const number = this.chosen.size;
      this.every.checked = this.shown.length > 0 && this.shown.every((column) => this.chosen.has(column.name));
      this.bulk.hidden = !number;
      const group = make("div", { class: "pv-roles", role: "group", "aria-label": "Role of the selected columns" });
      for (const [key, [title, meaning]] of Object.entries(this.roles)) {
        group.append(make("button", { type: "button", title: meaning, text: title, onclick: () => this.set([...this.chosen], key) }));
      }
      const clear = make("button", { type: "button", class: "pv-plain-button", text: "Clear the selection", onclick: () => { this.chosen.clear(); this.showChosen(); this.every.focus(); } });
      this.bulk.replaceChildren(make("strong", { role: "status", text: `${counted(number)} selected: set to` }), group, clear);
    }

    // -- keyboard -------------------------------------------------------------------------------------------------

    get focused() {
      const node = document.activeElement?.closest?.(".pv-column-row");
      if (!node || !this.contains(node)) return null;
      const part = document.activeElement.matches(".pv-tick") ? "tick" : document.activeElement.matches("a") ? "link" : "role";
      return { at: Number(node.dataset.at), name: node.querySelector("h2").textContent, part };
    }

    focusAt(at, part = "role") {
      if (at < 0 || at >= this.shown.length) return;
      const { scrollTop, clientHeight } = this.list;
      if (this.tops[at] < scrollTop) this.list.scrollTop = this.tops[at];
      else if (this.tops[at + 1] > scrollTop + clientHeight) this.list.scrollTop = this.tops[at + 1] - clientHeight;
      this.draw();
      const node = this.nodes.get(at);
      const target = { tick: ".pv-tick", link: "a", role: "[role=radio][tabindex='0']" }[part];
      (node.querySelector(target) ?? node.querySelector("[role=radio][tabindex='0']")).focus({ preventScroll: true });
    }

    key(event) {
      const here = this.focused;
      if (!here || event.altKey) return;
      const keys = Object.keys(this.roles), column = this.shown[here.at];
      const page = Math.max(1, Math.floor(this.list.clientHeight / (this.tops[here.at + 1] - this.tops[here.at])));
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.ctrlKey || event.metaKey) {
        if (event.key.toLowerCase() !== "a") return;
        this.chooseAll(true);
      } else if (event.key in steps) {
        this.focusAt(Math.min(Math.max(here.at + steps[event.key], 0), this.shown.length - 1), here.part);
      } else if (here.part === "role" && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
        const step = event.key === "ArrowRight" ? 1 : -1;
        this.set([column.name], keys[(keys.indexOf(column.role) + step + keys.length) % keys.length]);
      } else if (/^[1-9]$/.test(event.key) && keys[event.key - 1]) {
        this.set(this.chosen.has(column.name) ? [...this.chosen] : [column.name], keys[event.key - 1]);
      } else return;
      event.preventDefault();
    }
  }

  customElements.define("pv-columns", Columns);
})();
