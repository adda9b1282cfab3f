// Uploads with drag and drop, progress, and the error at the place where the file was given.
// What a run's point on the frontier says; its name is a person's own text, so it is escaped.
window.tooltipOfRun = (point) => {
  const name = document.createElement("span");
  name.textContent = point.name;
  return `${name.innerHTML}<br>${point.value[1].toFixed(1)} % of the detail lost, protection ${+point.value[0].toFixed(4)}`;
};

(() => {
  // Up and down move through a tree as they do in a file manager.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const node = event.target.closest?.(".pv-node[role=treeitem]");
    if (!step || !node) return;
    const all = [...node.closest(".pv-tree").querySelectorAll(".pv-node[role=treeitem]")];
    event.preventDefault();
    all[all.indexOf(node) + step]?.focus();
  });
  // Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y) undo and redo the draft, except while a text is being written.
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.closest?.("input:not([type=checkbox]), textarea")) return;
    const key = event.key.toLowerCase();
    const which = key === "y" || (key === "z" && event.shiftKey) ? ".pv-redo" : key === "z" ? ".pv-undo" : null;
    const button = which && document.querySelector(`${which}:not([disabled])`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
  // A workbench that was started again may ask for a new token: then say so, instead of waiting for a connection.
  setInterval(async () => {
    if (!window.socket || window.socket.connected) return;
    const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
    if (answer?.status === 401) location.reload();
  }, 3000);
  const send = (zone, file) => {
    const bar = zone.querySelector("progress");
    const error = zone.querySelector("[role=alert]");
    const body = new FormData();
    for (const [key, value] of Object.entries(zone.dataset)) {
      if (key.startsWith("field")) body.append(key.slice(5).toLowerCase(), value);
    }
    body.append("file", file, file.name);
    const fail = (message, faults) => {
      bar.hidden = true;
      zone.classList.remove("pv-busy");
      error.hidden = false;
      error.textContent = "";
      const add = (name, text) => {
        const line = document.createElement(name);
        line.textContent = text;
        error.append(line);
      };
      add("strong", `${file.name} was not taken`);
      if (faults) faults.forEach((f) => add("p", `${f.place}: ${f.rule}. ${f.remedy}.`));
      else add("p", message);
    };
    const request = new XMLHttpRequest();
    request.open("POST", zone.dataset.url);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
    };
    request.onerror = () => fail("The workbench did not answer. Is it still running?");
    request.onload = () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // an empty answer is one without details
      }
      if (request.status < 300) {
        bar.hidden = true;
        zone.classList.remove("pv-busy");
        emitEvent(zone.dataset.done, answer);
        return;
      }
      const detail = answer.detail ?? "It was refused.";
      if (typeof detail === "string") fail(detail);
      else fail(detail.message ?? "It was refused.", detail.faults);
    };
    error.hidden = true;
    bar.value = 0;
    bar.hidden = false;
    zone.classList.add("pv-busy");
    request.send(body);
  };
  const zoneOf = (event) => event.target.closest?.(".pv-drop");
  document.addEventListener("change", (event) => {
    const zone = zoneOf(event);
    if (!zone || event.target.type !== "file" || !event.target.files.length) return;
    send(zone, event.target.files[0]);
    event.target.value = "";
  });
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      const zone = zoneOf(event);
      if (!zone || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.add("pv-over");
    });
  }
  document.addEventListener("dragleave", (event) => zoneOf(event)?.classList.remove("pv-over"));
  document.addEventListener("drop", (event) => {
    const zone = zoneOf(event);
    if (!zone || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    zone.classList.remove("pv-over");
    send(zone, event.dataTransfer.files[0]);
  });
})();
