// Where files come from: the file picker, a drop anywhere on the page, the clipboard; and the buttons of a row.

export function takeFiles(form, { add, replace, retry }) {
  form.addEventListener("change", (event) => {
    const input = event.target;
    if (input.type !== "file" || !input.files.length) {
      return;
    }
    const files = [...input.files];
    // They are sent one by one from here, and not with the form again.
    input.value = "";
    if (input.name === "replacement") {
      replace(input.closest("[data-photo]"), files[0]);
    } else {
      add(files);
    }
  });

  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-retry]");
    if (button) {
      retry(button.closest("[data-photo]"));
    }
  });

  document.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    // What was copied from a text processor is text and a picture of it.
    if (files.length && !event.clipboardData.types.includes("text/plain")) {
      event.preventDefault();
      add(files);
    }
  });

  takeDrops(form, add);
}

function takeDrops(form, add) {
  const zone = form.querySelector("[data-drop]");
  let depth = 0;
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const mark = () => zone.classList.toggle("is-drop-target", depth > 0);

  document.addEventListener("dragenter", (event) => {
    if (hasFiles(event)) {
      depth += 1;
      mark();
    }
  });
  document.addEventListener("dragleave", (event) => {
    if (hasFiles(event)) {
      depth = Math.max(0, depth - 1);
      mark();
    }
  });
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    }
  });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) {
      return;
    }
    event.preventDefault();
    depth = 0;
    mark();
    const files = [...event.dataTransfer.files];
    if (files.length) {
      add(files);
    }
  });
}
