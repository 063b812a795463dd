// What a screen reader is told: one sentence at a time, and not one for every percent.

const PAUSE_MS = 400;

export function announcer(element) {
  let waiting = [];
  let timer = null;

  const say = () => {
    element.textContent = waiting.join(" ");
    waiting = [];
    timer = null;
  };

  return (sentence) => {
    if (!element || waiting.includes(sentence)) {
      return;
    }
    waiting.push(sentence);
    timer ??= setTimeout(say, PAUSE_MS);
  };
}
