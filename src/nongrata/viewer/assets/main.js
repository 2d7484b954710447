// Which view stands in the page; what all views share.

import { here, listHref, onMove, set, view } from "./address.js";
import { ask } from "./data.js";
import { element, named, visible } from "./dom.js";
import { ListView } from "./list.js";
import { QuestionView } from "./question.js";
import { startTheme } from "./theme.js";

const main = document.getElementById("main");
const home = document.getElementById("home");
const model = document.getElementById("model");

function notices(lines) {
  const place = document.getElementById("notices");
  place.replaceChildren(...lines.map((line) => element("p", { class: "notice" }, visible(line))));
}

function header(overview) {
  document.getElementById("run").replaceChildren(named(overview.run));
  notices(overview.notices);
  if (overview.models.length < 2) return;
  for (const { id } of overview.models) model.append(element("option", { value: id }, visible(id)));
  document.getElementById("model-choice").hidden = false;
  model.addEventListener("change", () => set({ model: model.value, page: null }));
}

async function start() {
  startTheme(document.getElementById("theme"));
  let overview;
  try {
    overview = await ask("/api/overview");
  } catch (error) {
    main.append(element("p", { class: "trouble", role: "alert" }, visible(error.message)));
    return;
  }
  header(overview);
  const views = { list: new ListView(main, overview), question: new QuestionView(main, overview) };
  let standing = null;
  const show = () => {
    const name = view();
    if (standing !== name) views[standing]?.leave();
    standing = name;
    model.value = here().get("model") ?? overview.models[0].id;
    home.href = name === "list" ? "/" : listHref();
    views[name].show();
  };
  onMove(show);
  show();
}

start();
