/* What was a widget, in a notebook whose kernel is gone.

A notebook is stored with its widgets as they stood last. Opened again, it shows them, each with a
red icon of a broken link, and with buttons and sliders that do nothing.
- Here the texts and pictures stay, what was chosen stays readable, and what can only be pressed is
  left out. A line below says how it comes to life. The same holds when a kernel ends or restarts
  while its notebook is open.
- Where a notebook was stored without them, JupyterLab says "Error displaying widget". The text or
  picture that each of the course's widgets stores for this case is shown instead.

Plain JavaScript, loaded by JupyterLab as it is: there is nothing to build. */
(() => {
  const DEAD = ".jupyter-widgets-disconnected";
  const OUTPUT = ".jp-OutputArea-output";
  const STYLE = `
    ${DEAD}::before { content: none !important; }
    ${DEAD} button.jupyter-button, ${DEAD} .jupyter-widget-play, ${DEAD} .widget-play,
    ${DEAD} .gpu-course-live, ${DEAD} .widget-slider .slider-container,
    ${DEAD}.widget-slider:has(.widget-readout[style*="none"]),
    ${DEAD} .widget-slider .jupyter-widget-slider { display: none !important; }
    ${DEAD} input, ${DEAD} select, ${DEAD} textarea, ${DEAD} .widget-readout {
      pointer-events: none; opacity: 0.75; }
    ${OUTPUT} > ${DEAD}::after {
      content: "Run this cell again to use it."; display: block; padding: 0.3em 0 0 0.8em;
      font-size: var(--jp-ui-font-size1); color: var(--jp-ui-font-color2); }`;
  const LOST = /^Error displaying widget/;

  class Stored {
    constructor(app) {
      this.app = app;
      this.panels = new WeakSet();
    }

    start() {
      const style = document.createElement("style");
      style.textContent = STYLE;
      document.head.appendChild(style);
      const scan = () => this.scan();
      this.app.shell.layoutModified.connect(scan);
      this.app.shell.currentChanged.connect(scan);
      this.scan();
    }

    scan() {
      for (const panel of this.app.shell.widgets("main")) {
        if (!panel.content || !panel.content.rendermime || this.panels.has(panel)) continue;
        this.panels.add(panel);
        const look = () => this.look(panel);
        const observer = new MutationObserver(look);
        observer.observe(panel.content.node, { childList: true, subtree: true });
        panel.disposed.connect(() => observer.disconnect());
        look();
      }
    }

    // Finds what JupyterLab could not show, and shows what is stored beside it.
    look(panel) {
      for (const node of panel.content.node.querySelectorAll(`${OUTPUT}.jupyter-widgets`)) {
        if (!LOST.test(node.textContent)) continue;
        for (const cell of panel.content.widgets) {
          const area = cell.outputArea;
          if (!area || !cell.node.contains(node)) continue;
          const at = area.widgets.findIndex(child => child.node.contains(node));
          if (at >= 0) this.show(node, area, area.model.get(at));
        }
      }
    }

    async show(node, area, model) {
      if (model.data["text/html"] === undefined) return;
      const renderer = area.rendermime.createRenderer("text/html");
      node.classList.remove("jupyter-widgets");
      await renderer.renderModel(model);
      node.replaceChildren(renderer.node);
    }
  }

  const plugin = {
    id: "gpu-course-stored:widgets",
    description: "Shows as text and picture what was a widget, where its kernel is gone.",
    autoStart: true,
    activate: app => {
      new Stored(app).start();
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["gpu-course-stored"] = {
    init: () => {},
    get: () => Promise.resolve(() => ({ __esModule: true, default: plugin }))
  };
})();
