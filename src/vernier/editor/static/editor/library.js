// The library, and the page of one image: what is still processed shows when it is ready.

import { announcer } from "./announcer.js";
import { stateWatcher } from "./states.js";

const announce = announcer(document.querySelector("[data-announcer]"));
const watcher = stateWatcher({ announce });
document.querySelectorAll("[data-media]").forEach((row) => watcher.watch(row));
