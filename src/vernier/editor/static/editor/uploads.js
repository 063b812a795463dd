// Each photo uploads at once, a few at a time, with its progress. The same key again is the same photo.

import { showState } from "./states.js";

const AT_ONCE_MAX = 2;
// What another file would put right; the rest is worth another try with the same one.
const FAULTS_OF_THE_FILE = new Set([400, 404, 413, 415, 422]);

export function uploader(form, { watcher, announce }) {
  const uploads = new Map();
  const listeners = [];

  window.addEventListener("online", () => failed().filter(({ status }) => !status).forEach(({ row }) => retry(row)));
  return { start, retry, cancel, unfinished, failed, onSettled: (listener) => listeners.push(listener) };

  function start(row, file) {
    cancel(row);
    const upload = { row, file, key: newKey(), state: "waiting", request: null, isRenewed: false };
    row.dataset.name = file.name;
    uploads.set(row, upload);
    show(upload, "waiting");
    startNext();
  }

  function retry(row) {
    const upload = uploads.get(row);
    if (upload?.state === "failed") {
      show(upload, "waiting");
      startNext();
    }
  }

  function cancel(row) {
    uploads.get(row)?.request?.abort();
    uploads.delete(row);
    startNext();
    settle();
  }

  function unfinished() {
    return [...uploads.values()].filter(({ state }) => state === "waiting" || state === "uploading");
  }

  function failed() {
    return [...uploads.values()].filter(({ state }) => state === "failed");
  }

  function startNext() {
    const running = [...uploads.values()].filter(({ state }) => state === "uploading").length;
    const waiting = [...uploads.values()].filter(({ state }) => state === "waiting");
    waiting.slice(0, Math.max(0, AT_ONCE_MAX - running)).forEach(send);
  }

  function send(upload) {
    const bytesMax = Number(form.dataset.bytesMax);
    if (upload.file.size > bytesMax) {
      fail(upload, `This file is too large; at most ${Math.floor(bytesMax / 2 ** 20)} MB are accepted.`, 413);
      return;
    }
    const media = upload.row.dataset.media;
    const request = new XMLHttpRequest();
    upload.request = request;
    request.open("POST", media ? `${form.dataset.mediaUrl}/${media}/replace` : form.dataset.uploadUrl);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
    request.setRequestHeader("Idempotency-Key", upload.key);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) {
        upload.row.querySelector("[data-progress]").value = (100 * event.loaded) / event.total;
      }
    });
    request.addEventListener("load", () => answered(upload, request));
    request.addEventListener("error", () => fail(upload, "The connection was lost.", 0));
    const body = new FormData();
    body.append("file", upload.file, upload.file.name);
    show(upload, "uploading");
    request.send(body);
  }

  function answered(upload, request) {
    const answer = parse(request.responseText);
    if (request.status === 201 || request.status === 202) {
      accepted(upload, answer);
    } else if (request.status === 403 && !upload.isRenewed) {
      // Signing in again in another tab has changed the token.
      upload.isRenewed = true;
      renewToken(form).then(() => send(upload));
    } else {
      fail(upload, answer.error_description ?? "The server did not answer as expected.", request.status);
    }
  }

  function accepted(upload, answer) {
    const { row } = upload;
    uploads.delete(row);
    row.querySelector("[name=photo]").value = answer.id;
    row.dataset.media = answer.id;
    showState(row, { state: "queued", label: "Queued", reason: "" });
    hideProgress(row);
    watcher.watch(row);
    form.dispatchEvent(new Event("input", { bubbles: true }));
    startNext();
    settle();
  }

  function fail(upload, reason, status) {
    upload.request = null;
    upload.status = status;
    show(upload, "failed", reason);
    upload.row.querySelector("[data-retry]").hidden = FAULTS_OF_THE_FILE.has(status);
    announce(`${upload.file.name || "A photo"} was not uploaded. ${reason}`);
    startNext();
    settle();
  }

  function show(upload, state, reason = "") {
    const labels = { waiting: "Waiting to upload", uploading: "Uploading", failed: "Not uploaded" };
    upload.state = state;
    showState(upload.row, { state: `upload-${state}`, label: labels[state], reason });
    const progress = upload.row.querySelector("[data-progress]");
    progress.hidden = state !== "uploading";
    progress.setAttribute("aria-label", `Upload of ${upload.file.name || "a photo"}`);
    if (state === "waiting") {
      progress.value = 0;
    }
    upload.row.querySelector("[data-retry]").hidden = true;
  }

  function settle() {
    listeners.forEach((listener) => listener());
  }
}

function hideProgress(row) {
  row.querySelector("[data-progress]").hidden = true;
  row.querySelector("[data-retry]").hidden = true;
}

async function renewToken(form) {
  try {
    const answer = await fetch(form.action, { headers: { Accept: "text/html" }, cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const token = page.querySelector("[name=csrfmiddlewaretoken]")?.value;
    if (token) {
      form.elements.csrfmiddlewaretoken.value = token;
    }
  } catch {
    // The next try says what is wrong.
  }
}

function parse(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

// `crypto.randomUUID` is not there on a site without TLS.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `editor-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
