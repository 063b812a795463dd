// The rows of the photos: added, moved by drag, button and arrow key, and removed. The order of the form is theirs.

const MOVES = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

export function photoList(form, { announce }) {
  const list = form.querySelector("[data-photos]");
  const template = form.querySelector("[data-photo-template]");
  const rows = () => [...list.querySelectorAll(":scope > [data-photo]")];
  const photos = { add, addNamed, remove, rows, onRemove: () => {} };

  rows().forEach(addHandle);
  list.addEventListener("click", onClick);
  list.addEventListener("keydown", onKey);
  list.addEventListener("pointerdown", onPointerDown);
  renumber();
  return photos;

  function add(file) {
    const row = append();
    row.dataset.name = file.name;
    const preview = document.createElement("img");
    preview.alt = "";
    preview.src = URL.createObjectURL(file);
    preview.addEventListener("error", () => preview.remove(), { once: true });
    row.querySelector("[data-picture]").replaceChildren(preview);
    return row;
  }

  // A photo that is on the server already.
  function addNamed({ photo, alt, caption }) {
    const row = append();
    row.querySelector("[name=photo]").value = photo;
    row.querySelector("[name=alt]").value = alt;
    row.querySelector("[name=caption]").value = caption;
    if (!/^https?:/.test(photo)) {
      row.dataset.media = photo;
      row.dataset.state = "queued";
    }
    return row;
  }

  function append() {
    const row = template.content.querySelector("[data-photo]").cloneNode(true);
    addHandle(row);
    list.append(row);
    renumber();
    return row;
  }

  function remove(row) {
    const all = rows();
    const position = all.indexOf(row);
    const next = all[position + 1] ?? all[position - 1];
    photos.onRemove(row);
    row.remove();
    renumber();
    changed();
    (next?.querySelector("[data-remove]") ?? form.querySelector("#id_files")).focus();
    announce(`Photo ${position + 1} removed from the post.`);
  }

  function onClick(event) {
    const button = event.target.closest("[data-up], [data-down], [data-remove]");
    if (!button) {
      return;
    }
    event.preventDefault();
    const row = button.closest("[data-photo]");
    if (button.matches("[data-remove]")) {
      remove(row);
    } else {
      moveBy(row, button.matches("[data-up]") ? -1 : 1, button);
    }
  }

  function onKey(event) {
    const button = event.target.closest("[data-up], [data-down], [data-handle]");
    if (button && event.key in MOVES) {
      event.preventDefault();
      moveBy(button.closest("[data-photo]"), MOVES[event.key], button);
    } else if (event.key === "Enter" && event.target.matches("[name=caption]")) {
      // Enter in a caption ends the caption, and does not send the form.
      event.preventDefault();
    }
  }

  function moveBy(row, by, button) {
    const all = rows();
    const to = all.indexOf(row) + by;
    if (to < 0 || to >= all.length) {
      return;
    }
    list.insertBefore(row, by < 0 ? all[to] : all[to].nextElementSibling);
    renumber();
    changed();
    // An element that was moved has lost the focus, and one that is disabled takes none.
    const target = button.disabled ? row.querySelector("[data-up]:enabled, [data-down]:enabled") : button;
    target?.focus();
    announce(`Photo moved to place ${to + 1} of ${all.length}.`);
  }

  function onPointerDown(event) {
    const handle = event.target.closest("[data-handle]");
    if (!handle || event.button !== 0) {
      return;
    }
    event.preventDefault();
    handle.focus();
    const row = handle.closest("[data-photo]");
    const before = rows().indexOf(row);
    row.classList.add("is-dragged");
    const onMove = (moved) => {
      const others = rows().filter((other) => other !== row);
      const below = others.find((other) => moved.clientY < middle(other)) ?? null;
      if (row.nextElementSibling !== below) {
        list.insertBefore(row, below);
      }
    };
    const onEnd = () => {
      document.removeEventListener("pointermove", onMove);
      document.removeEventListener("pointerup", onEnd);
      document.removeEventListener("pointercancel", onEnd);
      row.classList.remove("is-dragged");
      renumber();
      handle.focus();
      const after = rows().indexOf(row);
      if (after !== before) {
        changed();
        announce(`Photo moved to place ${after + 1} of ${rows().length}.`);
      }
    };
    document.addEventListener("pointermove", onMove);
    document.addEventListener("pointerup", onEnd);
    document.addEventListener("pointercancel", onEnd);
  }

  function addHandle(row) {
    const handle = document.createElement("button");
    handle.type = "button";
    handle.className = "button secondary icon-button photo-handle";
    handle.dataset.handle = "";
    handle.append(hidden("span", "⠿"), visuallyHidden("Drag, or press the arrow keys, to move this photo"));
    row.querySelector(".photo-actions").prepend(handle);
  }

  function renumber() {
    const all = rows();
    all.forEach((row, position) => {
      row.querySelectorAll("[data-number]").forEach((element) => (element.textContent = position + 1));
      for (const name of ["up", "down", "remove"]) {
        row.querySelector(`[data-${name}]`).value = `${name}:${position}`;
      }
      row.querySelector("[data-up]").disabled = position === 0;
      row.querySelector("[data-down]").disabled = position === all.length - 1;
    });
  }

  function changed() {
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function middle(element) {
  const box = element.getBoundingClientRect();
  return box.top + box.height / 2;
}

function hidden(name, text) {
  const element = document.createElement(name);
  element.setAttribute("aria-hidden", "true");
  element.textContent = text;
  return element;
}

function visuallyHidden(text) {
  const element = document.createElement("span");
  element.className = "visually-hidden";
  element.textContent = text;
  return element;
}
