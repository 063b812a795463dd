// The form of a post: photos that upload at once, and text that survives. Without this file the form works too.

import { announcer } from "./announcer.js";
import { keepDraft } from "./draft.js";
import { takeFiles } from "./files.js";
import { photoList } from "./photos.js";
import { stateWatcher } from "./states.js";
import { submitAfterUploads } from "./submit.js";
import { uploader } from "./uploads.js";

const form = document.querySelector("[data-post-form]");
if (form) {
  start(form);
}

function start(form) {
  const announce = announcer(form.querySelector("[data-announcer]"));
  const photos = photoList(form, { announce });
  const watcher = stateWatcher({ announce });
  const uploads = uploader(form, { watcher, announce });

  const add = (files) => {
    for (const file of files) {
      uploads.start(photos.add(file), file);
    }
    announce(files.length === 1 ? "One photo added." : `${files.length} photos added.`);
  };
  takeFiles(form, { add, replace: uploads.start, retry: uploads.retry });
  photos.onRemove = (row) => {
    uploads.cancel(row);
    watcher.forget(row);
  };
  photos.rows().forEach((row) => watcher.watch(row));
  submitAfterUploads(form, uploads);
  keepDraft(form, { photos, watch: (row) => watcher.watch(row) });

  form.classList.add("has-script");
  form.querySelectorAll("[data-needs-script]").forEach((element) => (element.hidden = false));
  document.querySelector("[data-errors]")?.focus();
}
