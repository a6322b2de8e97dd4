/* What a hand and a keyboard do on a schedule board.

The board is drawn anew by Python after each change, inside an element that stays: that element is
what this listens on. What is asked of Python goes through a hidden text field beside the board.
Plain JavaScript in an attribute of the board, which a page runs when the board is first touched. */
((stays) => {
  if (stays.gpuCourseBoard) return;
  stays.gpuCourseBoard = true;
  const home = stays.closest(".gpu-course-board");
  const board = () => stays.querySelector(".board-root");
  const acts = () => [...stays.querySelectorAll(".board-act")];
  const rankOf = act => Number(act.dataset.rank);
  const stepOf = act => Number(act.dataset.step);
  const row = rank => acts().filter(act => rankOf(act) === rank);
  const middle = act => {
    const box = act.querySelector("rect");
    return Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2;
  };
  let picked = null; // [rank, step]
  let drag = null;
  let asked = 0;

  const find = place => place && acts().find(
    act => rankOf(act) === place[0] && stepOf(act) === place[1]);

  const ask = (what, more) => {
    const field = home.querySelector(".gpu-course-board-hand input");
    field.value = JSON.stringify({ number: ++asked, do: what, ...more });
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  // The whole way of one action's microbatch: its cells stay as they are, all others fade.
  const show = act => {
    const root = board();
    const number = act ? act.dataset.microbatch : null;
    for (const each of acts()) {
      each.style.opacity = number === null || each.dataset.microbatch === number ? 1 : 0.3;
      const box = each.querySelector("rect");
      if (box.dataset.edge === undefined) box.dataset.edge = box.getAttribute("stroke");
      const ring = each === act;
      box.setAttribute("stroke", ring ? "#222222" : box.dataset.edge);
      box.setAttribute("stroke-width", ring ? 3 : 0.8);
    }
    for (const way of stays.querySelectorAll(".board-way")) {
      way.setAttribute("visibility", way.dataset.microbatch === number ? "visible" : "hidden");
    }
    const told = root.querySelector(".board-told");
    if (act) {
      const text = `${act.getAttribute("aria-label")}. ${JSON.parse(root.dataset.ways)[number]}`;
      told.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    } else {
      told.textContent = root.dataset.hint;
    }
  };

  const pick = act => {
    if (!act) return;
    picked = [rankOf(act), stepOf(act)];
    show(act);
  };

  const beside = (act, by) => {
    const rank = rankOf(act) + by;
    return row(rank).sort((a, b) =>
      Math.abs(middle(a) - middle(act)) - Math.abs(middle(b) - middle(act)))[0];
  };

  const moved = (rank, step, toRank, toStep) => ask("put", { rank, step, toRank, toStep });

  const keys = event => {
    const current = find(picked) || acts()[0];
    if (!current) return;
    const [rank, step] = [rankOf(current), stepOf(current)];
    const last = row(rank).length - 1;
    const ranks = Number(board().dataset.ranks);
    const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const across = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const control = event.ctrlKey || event.metaKey;
    if (arrow && event.shiftKey) {
      if (step + arrow >= 0 && step + arrow <= last) moved(rank, step, rank, step + arrow);
    } else if (arrow) {
      pick(find([rank, step + arrow]) || current);
    } else if (across && event.shiftKey) {
      const to = rank + across;
      if (to >= 0 && to < ranks) moved(rank, step, to, placeIn(to, middle(current), null));
    } else if (across) {
      pick(beside(current, across) || current);
    } else if (event.key === "Home") {
      pick(find([rank, 0]));
    } else if (event.key === "End") {
      pick(find([rank, last]));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      ask("drop", { rank, step });
    } else if (event.key.toLowerCase() === "d" && !control) {
      ask("double", { rank, step });
    } else if (event.key.toLowerCase() === "z" && control) {
      ask("undo", {});
    } else if (event.key === "Escape") {
      stop();
      picked = null;
      show(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  // Where in a rank's order something would go that is let go at x.
  const placeIn = (rank, x, without) =>
    row(rank).filter(act => act !== without && middle(act) < x).length;

  const point = event => {
    const svg = stays.querySelector("svg");
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(
      svg.getScreenCTM().inverse());
  };

  const stop = () => {
    if (!drag) return;
    drag.act.removeAttribute("transform");
    stays.querySelector(".board-gap").setAttribute("visibility", "hidden");
    drag = null;
  };

  // Not pointerover: it also comes where a picture that is drawn anew slips below a still pointer.
  let pointed = null;
  stays.addEventListener("pointermove", event => {
    const act = event.target.closest(".board-act");
    if (drag || act === pointed) return;
    pointed = act;
    show(act || find(picked) || null);
  });
  stays.addEventListener("pointerleave", () => {
    if (!drag) show(find(picked) || null);
  });
  stays.addEventListener("pointerdown", event => {
    const act = event.target.closest(".board-act");
    if (!act || event.button) return;
    pick(act);
    board().focus({ preventScroll: true });
    const from = point(event);
    drag = { act, from, rank: rankOf(act), step: stepOf(act), to: [rankOf(act), stepOf(act)] };
    stays.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  stays.addEventListener("pointermove", event => {
    if (!drag) return;
    const svg = stays.querySelector("svg").dataset;
    const now = point(event);
    drag.act.setAttribute("transform", `translate(${now.x - drag.from.x} ${now.y - drag.from.y})`);
    const ranks = Number(board().dataset.ranks);
    const rank = Math.min(Math.max(Math.floor((now.y - svg.top) / svg.row), 0), ranks - 1);
    const x = middle(drag.act) + now.x - drag.from.x;
    const to = [rank, placeIn(rank, x, drag.act)];
    if (to[0] === drag.to[0] && to[1] === drag.to[1]) return;
    drag.to = to;
    const others = row(rank).filter(act => act !== drag.act);
    const after = others[to[1]];
    const before = others[to[1] - 1];
    const edge = (act, end) => {
      const box = act.querySelector("rect");
      return Number(box.getAttribute("x")) + (end ? Number(box.getAttribute("width")) : 0);
    };
    const place = after ? edge(after, false) : before ? edge(before, true) : Number(svg.left);
    const gap = stays.querySelector(".board-gap");
    const top = Number(svg.top) + rank * Number(svg.row);
    gap.setAttribute("transform", `translate(${place} ${top})`);
    gap.setAttribute("visibility", "visible");
    ask("try", { rank: drag.rank, step: drag.step, toRank: to[0], toStep: to[1] });
  });
  const letGo = () => {
    if (!drag) return;
    const { rank, step, to } = drag;
    stop();
    if (to[0] !== rank || to[1] !== step) moved(rank, step, to[0], to[1]);
  };
  stays.addEventListener("pointerup", letGo);
  stays.addEventListener("pointercancel", () => {
    if (!drag) return;
    const { rank, step } = drag;
    stop();
    ask("try", { rank, step, toRank: rank, toStep: step });
  });
  stays.addEventListener("keydown", keys);
  stays.addEventListener("focusin", () => {
    if (!picked) pick(acts()[0]);
  });

  // Drawn anew: what was picked is picked again, and the keyboard stays where it was.
  let focused = false;
  stays.addEventListener("focusin", () => { focused = true; });
  stays.addEventListener("focusout", event => { if (event.relatedTarget) focused = false; });
  new MutationObserver(() => {
    const root = board();
    if (!root) return;
    drag = pointed = null;
    if (root.dataset.picked) picked = JSON.parse(root.dataset.picked);
    if (focused && !root.contains(document.activeElement)) root.focus({ preventScroll: true });
    show(find(picked) || null);
  }).observe(stays, { childList: true });
  if (board().matches(":focus")) {
    focused = true;
    pick(acts()[0]);
  }
})
