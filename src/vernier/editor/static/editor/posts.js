// The list of posts: a scheduled one becomes a published one when its time has come, without a reload.

// Further ahead than a page stays open; a browser's timers know nothing beyond 24 days.
const AHEAD_MS_MAX = 7 * 24 * 3600 * 1000;

document.querySelectorAll("[data-due-seconds]").forEach(wait);

function wait(row) {
  const ahead = 1000 * Number(row.dataset.dueSeconds);
  if (ahead <= AHEAD_MS_MAX) {
    setTimeout(() => renew(row), ahead);
  }
}

async function renew(row) {
  let page;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    // The next load of the page shows it.
    return;
  }
  const news = page.getElementById(row.id);
  // Nothing is taken from under the hands of an author.
  if (news && !row.contains(document.activeElement)) {
    row.replaceWith(news);
  }
}
