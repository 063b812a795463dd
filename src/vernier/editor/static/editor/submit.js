// The form goes off when every photo has arrived; whether they are processed makes no difference.

export function submitAfterUploads(form, uploads) {
  const text = form.querySelector("[data-save-state]");
  const buttons = [...form.querySelectorAll(".save-bar button")];
  let submitter = null;
  let isSent = false;

  form.addEventListener("submit", (event) => {
    if (isSent) {
      event.preventDefault();
      return;
    }
    if (uploads.unfinished().length) {
      event.preventDefault();
      submitter = event.submitter;
      tell();
      return;
    }
    if (uploads.failed().length) {
      event.preventDefault();
      complain();
      return;
    }
    isSent = true;
    form.classList.add("is-sent");
    text.textContent = "Saving…";
    // A button that is disabled at once would not be sent.
    setTimeout(() => buttons.forEach((button) => (button.disabled = true)));
  });

  uploads.onSettled(() => {
    if (!submitter) {
      return;
    }
    if (uploads.unfinished().length) {
      tell();
      return;
    }
    const button = submitter;
    submitter = null;
    if (uploads.failed().length) {
      complain();
    } else {
      form.requestSubmit(button);
    }
  });

  window.addEventListener("beforeunload", (event) => {
    if (!isSent && uploads.unfinished().length) {
      event.preventDefault();
    }
  });

  // The way back leads to the form as it was left.
  window.addEventListener("pageshow", () => {
    isSent = false;
    form.classList.remove("is-sent");
    text.textContent = "";
    buttons.forEach((button) => (button.disabled = false));
  });

  function tell() {
    const count = uploads.unfinished().length;
    text.textContent = `Waiting for ${count} ${count === 1 ? "photo" : "photos"} to upload, then it is saved…`;
  }

  function complain() {
    const [first] = uploads.failed();
    text.textContent = "Not saved: some photos were not uploaded. Try them again, or remove them.";
    first.row.scrollIntoView({ block: "center" });
    first.row.querySelector("[data-retry]:not([hidden]), [data-remove]").focus();
  }
}
