// What is written is kept in the browser until it is saved: a reload, a crash or a lost connection takes nothing.

const PREFIX = "vernier-draft:";
const SAVE_PAUSE_MS = 500;
const KEPT_MS = 30 * 24 * 3600 * 1000;
const SAVED_COOKIE = "editor_saved";
const LEFT_OUT = new Set(["csrfmiddlewaretoken", "token", "revision", "photo", "alt", "caption"]);

export function keepDraft(form, { photos, watch }) {
  const scope = form.dataset.scope;
  const shown = JSON.stringify(content(form));
  const note = form.querySelector("[data-restored]");
  let timer = null;
  let isDiscarded = false;

  forgetOld();
  offer();
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_PAUSE_MS);
  });
  window.addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => document.hidden && save());

  function save() {
    clearTimeout(timer);
    const now = content(form);
    if (isDiscarded || JSON.stringify(now) === shown) {
      return;
    }
    const token = form.elements.token.value;
    const draft = { token, revision: form.elements.revision.value, at: Date.now(), content: now };
    write(keyOf(scope, token), draft);
    remember(scope, token);
  }

  // The text of this tab comes back by itself; that of another tab, which may still be open, when it is asked for.
  function offer() {
    const own = read(keyOf(scope, sessionStorage.getItem(PREFIX + scope)));
    if (own && isNews(own)) {
      restore(own);
      tell("What you had not saved", own, false);
      return;
    }
    const [other] = drafts().filter((draft) => draft.scope === scope && isNews(draft));
    if (other) {
      tell("There is text that was not saved,", other, true);
      note.querySelector("[data-restore]").addEventListener("click", () => {
        restore(other);
        note.hidden = true;
      });
    }
  }

  function isNews(draft) {
    return draft.token !== form.elements.token.value && JSON.stringify(draft.content) !== shown;
  }

  function tell(what, draft, isOffer) {
    const at = new Date(draft.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    note.querySelector("[data-restored-text]").textContent = isOffer
      ? `${what} of ${at}.`
      : `${what} is here again, as of ${at}.`;
    note.querySelector("[data-restore]").hidden = !isOffer;
    note.querySelector("[data-discard]").addEventListener("click", () => {
      localStorage.removeItem(keyOf(scope, draft.token));
      isDiscarded = true;
      if (isOffer) {
        isDiscarded = false;
        note.hidden = true;
      } else {
        location.reload();
      }
    });
    note.hidden = false;
  }

  function restore(draft) {
    // With its token and revision: it is still the same post, and a newer state of it is not overwritten unseen.
    form.elements.token.value = draft.token;
    form.elements.revision.value = draft.revision;
    for (const [name, value] of draft.content.fields) {
      const field = form.elements[name];
      if (field && "value" in field) {
        field.value = value;
      }
      const part = value && field?.closest?.("details");
      if (part && field.value !== field.defaultValue && field.tagName !== "SELECT") {
        part.open = true;
      }
    }
    const there = new Map(photos.rows().map((row) => [row.querySelector("[name=photo]").value, row]));
    for (const photo of draft.content.photos) {
      const row = there.get(photo.photo) ?? photos.addNamed(photo);
      there.delete(photo.photo);
      row.querySelector("[name=alt]").value = photo.alt;
      row.querySelector("[name=caption]").value = photo.caption;
      row.parentElement.append(row);
      watch(row);
    }
    there.forEach((row) => row.remove());
    remember(scope, draft.token);
  }
}

function content(form) {
  const fields = [...form.elements]
    .filter((field) => field.name && !LEFT_OUT.has(field.name) && !["file", "submit", "button"].includes(field.type))
    .map((field) => [field.name, field.value]);
  const photos = [...form.querySelectorAll("[data-photos] > [data-photo]")]
    .map((row) => Object.fromEntries(["photo", "alt", "caption"].map((name) => [name, row.querySelector(`[name=${name}]`).value])))
    .filter(({ photo }) => photo);
  return { fields, photos };
}

function forgetOld() {
  const saved = document.cookie.split("; ").find((cookie) => cookie.startsWith(`${SAVED_COOKIE}=`));
  const token = saved?.slice(SAVED_COOKIE.length + 1);
  for (const draft of drafts()) {
    if (draft.token === token || Date.now() - draft.at > KEPT_MS) {
      localStorage.removeItem(draft.key);
    }
  }
}

// All that are kept, the newest first.
function drafts() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  return keys
    .map((key) => ({ key, scope: key.slice(PREFIX.length).split(":")[0], ...read(key) }))
    .filter((draft) => draft.content)
    .sort((one, other) => other.at - one.at);
}

function keyOf(scope, token) {
  return `${PREFIX}${scope}:${token}`;
}

function remember(scope, token) {
  sessionStorage.setItem(PREFIX + scope, token);
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

function write(key, draft) {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing, or has no room left: the form itself still has the text.
  }
}
