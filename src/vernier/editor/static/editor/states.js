// How the photos are doing: asked of the server, one question at a time, so that uploads are never held up.

const LONG_POLL_SECONDS = 20;
const PAUSE_MS_MIN = 700;
const PAUSE_MS_MAX = 10_000;
const FAILED = new Set(["failed", "upload-failed"]);
const UNFINISHED = new Set(["queued", "processing"]);

export function showState(row, { state, label, reason }) {
  row.dataset.state = state;
  const badge = document.createElement("span");
  badge.className = `badge badge-${state}`;
  badge.textContent = label;
  row.querySelector("[data-state-text]").replaceChildren(badge);
  const text = row.querySelector("[data-reason]");
  text.textContent = reason;
  text.hidden = !reason;
  const choose = row.querySelector("[data-replace] .file-button span");
  if (choose) {
    choose.textContent = FAILED.has(state) ? "Choose another file" : "Replace the file";
  }
}

export function stateWatcher({ announce }) {
  const waiting = new Map();
  let isRunning = false;
  let pause = PAUSE_MS_MIN;

  document.addEventListener("visibilitychange", run);
  return { watch, forget: (row) => waiting.delete(row) };

  function watch(row) {
    if (row.dataset.media && UNFINISHED.has(row.dataset.state)) {
      waiting.set(row, { etag: null });
      pause = PAUSE_MS_MIN;
      run();
    }
  }

  async function run() {
    if (isRunning) {
      return;
    }
    isRunning = true;
    while (waiting.size && !document.hidden) {
      await askAll();
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(PAUSE_MS_MAX, pause * 1.4);
    }
    isRunning = false;
  }

  async function askAll() {
    for (const [row, known] of [...waiting]) {
      if (!row.isConnected) {
        waiting.delete(row);
      } else if (await ask(row, known)) {
        pause = PAUSE_MS_MIN;
      }
    }
  }

  // Show what is new, and return whether anything is.
  async function ask(row, known) {
    const seconds = waiting.size === 1 && known.etag ? LONG_POLL_SECONDS : 0;
    const headers = known.etag ? { "If-None-Match": known.etag } : {};
    try {
      const answer = await fetch(`/media/${row.dataset.media}/status?wait=${seconds}`, { headers, cache: "no-store" });
      if (answer.status === 404) {
        // Signed out, or deleted elsewhere: nothing more is to be learnt here.
        waiting.delete(row);
      }
      if (!answer.ok || waiting.get(row) !== known) {
        return false;
      }
      known.etag = answer.headers.get("ETag");
      show(row, await answer.json());
      return true;
    } catch {
      return false;
    }
  }

  function show(row, { state, attempts, renditions, failure }) {
    if (state === "processing") {
      const label = attempts ? "Processing" : "Queued";
      showState(row, { state: attempts ? "processing" : "queued", label, reason: "" });
      return;
    }
    waiting.delete(row);
    const name = row.dataset.name || "A photo";
    if (state === "ready") {
      showState(row, { state, label: "Ready", reason: "" });
      showPicture(row, renditions);
      announce(`${name} is ready.`);
    } else {
      showState(row, { state, label: "Failed", reason: failure.message });
      announce(`${name} failed. ${failure.message}`);
    }
  }
}

// The finished picture takes the place of the preview once it has loaded.
function showPicture(row, renditions) {
  const url = ["w480", "photo", "fallback"].map((name) => renditions[name]?.url).find(Boolean);
  if (!url) {
    return;
  }
  const place = row.querySelector("[data-picture]");
  const image = document.createElement("img");
  image.alt = "";
  image.addEventListener("load", () => {
    const before = place.querySelector("img");
    if (before?.src.startsWith("blob:")) {
      URL.revokeObjectURL(before.src);
    }
    place.replaceChildren(image);
  });
  // Of the host of this page, which may be another than the site's own.
  image.src = new URL(url).pathname;
}
