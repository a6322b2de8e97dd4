/* One text for each answer, in JupyterLab as `gpu-course lab` starts it.

An answer can be on the screen twice: in a `%%puzzle` cell, and in an editor that has its file open.
- Where the two hold one text, a change in either is made in the other, and on disk.
- Where the file is changed by something else (a cell that ran, another program), an editor without
  unsaved typing shows the new text, and so does a cell that held the old one.
- Where they differ, nothing is touched: running the cell settles it, and keeps the file's text.
- An editor saves a moment after the last key typed in it, so that there is no unsaved text to ask
  about. The text that something else wrote in that moment is kept beside the file first. What is
  typed in a cell is shown in the editor, and saved when the cell runs.

Plain JavaScript, loaded by JupyterLab as it is: there is nothing to build. */
(() => {
  const ANSWER = /^(?:.*\/)?puzzles\/(\d\d_\w+)\/(\w+)\.py$/;
  const CELL = /^\s*%%puzzle[ \t]+(?:\w+\/)?(\w+)[^\n]*(?:\n|$)/;
  const SAVE_AFTER_MS = 400;
  const LOOK_EVERY_MS = 1500;
  const MOST_TURNS = 600; // frames, for a large notebook on a busy machine
  const STILL_TURNS = 20;

  // A cell holds no newline at its end, a file does.
  const sameText = (a, b) => a.replace(/\n$/, "") === b.replace(/\n$/, "");

  class OneText {
    constructor(app) {
      this.app = app;
      this.contents = app.serviceManager.contents;
      this.editors = new Map(); // context -> { name, text, typed, mirroring }
      this.cells = new Map(); // shared cell -> { notebook, text }
      this.notebooks = new Set(); // contexts of notebooks
      this.files = new Map(); // path -> { modified, text }, as last seen on disk
      this.timers = new Map();
      this.looking = false;
      this.lookAgain = false;
    }

    start() {
      const scan = () => this.scan();
      this.app.shell.layoutModified.connect(scan);
      this.app.shell.currentChanged.connect(scan);
      // Before JupyterLab, which opens the notebook of a link and forgets its place in it.
      document.addEventListener("click", event => this.clicked(event), true);
      document.addEventListener("focusout", () => this.saveAll());
      window.addEventListener("focus", () => this.look());
      window.setInterval(() => this.look(), LOOK_EVERY_MS);
      this.scan();
    }

    // What is open ---------------------------------------------------------------------------

    scan() {
      for (const widget of this.app.shell.widgets("main")) {
        const context = widget.context;
        if (!context || !context.model) continue;
        if (ANSWER.test(context.path) && !this.editors.has(context)) this.addEditor(context);
        if (context.path.endsWith(".ipynb") && !this.notebooks.has(context)) {
          this.addNotebook(context);
        }
      }
    }

    async addEditor(context) {
      this.editors.set(context, { name: ANSWER.exec(context.path)[2], text: "" });
      context.disposed.connect(() => this.editors.delete(context));
      await context.ready;
      if (context.isDisposed) return;
      const shared = context.model.sharedModel;
      this.editors.get(context).text = shared.getSource();
      shared.changed.connect(() => this.editorChanged(context));
    }

    async addNotebook(context) {
      this.notebooks.add(context);
      context.disposed.connect(() => {
        this.notebooks.delete(context);
        for (const [cell, about] of this.cells) {
          if (about.notebook === context) this.cells.delete(cell);
        }
      });
      await context.ready;
      if (context.isDisposed) return;
      const shared = context.model.sharedModel;
      const findCells = () => {
        for (const cell of shared.cells) {
          if (cell.cell_type === "code" && !this.cells.has(cell)) {
            this.cells.set(cell, { notebook: context, text: this.body(cell) });
            cell.changed.connect((_, change) => {
              this.cellChanged(cell);
              // A cell that has run may have written its file, and the next click change it again.
              if (change.executionStateChange || change.executionCountChange) this.look();
            });
          }
        }
      };
      findCells();
      shared.changed.connect(findCells);
      this.look();
    }

    body(cell) {
      return cell.getSource().replace(CELL, "");
    }

    nameOf(cell) {
      const match = CELL.exec(cell.getSource());
      return match && match[1];
    }

    *cellsOf(name) {
      for (const cell of this.cells.keys()) if (this.nameOf(cell) === name) yield cell;
    }

    setCell(cell, text) {
      const first = cell.getSource().split("\n", 1)[0];
      cell.setSource(`${first}\n${text.replace(/\n$/, "")}`);
    }

    // A change in one is made in the other -----------------------------------------------------

    editorChanged(context) {
      const about = this.editors.get(context);
      const before = about.text;
      const text = context.model.sharedModel.getSource();
      if (text === before) return;
      about.text = text;
      for (const cell of this.cellsOf(about.name)) {
        const body = this.body(cell);
        if (sameText(body, before) && !sameText(body, text)) this.setCell(cell, text);
      }
      if (about.mirroring) return;
      about.typed = true;
      this.saveSoon(context);
    }

    // Shows a text in an editor that was not typed there, and is not to be saved from there.
    mirror(context, text) {
      const about = this.editors.get(context);
      about.mirroring = true;
      context.model.sharedModel.setSource(text);
      about.mirroring = false;
    }

    cellChanged(cell) {
      const about = this.cells.get(cell);
      if (!about) return;
      const before = about.text;
      const text = this.body(cell);
      about.text = text;
      if (text === before) return;
      const name = this.nameOf(cell);
      for (const [context, editor] of this.editors) {
        if (editor.name !== name || !context.isReady) continue;
        const shown = context.model.sharedModel.getSource();
        if (sameText(shown, before) && !sameText(shown, text)) {
          this.mirror(context, text.endsWith("\n") ? text : `${text}\n`);
        }
      }
    }

    // An editor and its file -------------------------------------------------------------------

    saveSoon(context) {
      window.clearTimeout(this.timers.get(context));
      this.timers.set(context, window.setTimeout(() => this.save(context), SAVE_AFTER_MS));
    }

    saveAll() {
      for (const [context, about] of this.editors) if (about.typed) this.save(context);
    }

    async save(context) {
      window.clearTimeout(this.timers.get(context));
      if (context.isDisposed || !context.isReady || !context.model.dirty) return;
      if (context.gpuCourseSaving) return this.saveSoon(context);
      context.gpuCourseSaving = true;
      try {
        const disk = await this.read(context.path);
        const mine = context.model.sharedModel.getSource();
        const about = this.editors.get(context);
        if (disk.last_modified !== context.contentsModel.last_modified) {
          // Something else wrote the file since the editor read it.
          if (about.typed && !sameText(disk.content, mine)) {
            await this.keepBeside(context.path, disk.content);
          }
          await this.reload(context);
          if (!sameText(context.model.sharedModel.getSource(), mine)) this.mirror(context, mine);
        }
        if (!about.typed) return;
        if (context.model.dirty) await context.save();
        about.typed = context.model.sharedModel.getSource() !== mine;
        this.files.set(context.path, { modified: context.contentsModel.last_modified, text: mine });
        this.tellKernels(about.name, mine);
      } catch (error) {
        // The server is away for a moment, or the file cannot be written: JupyterLab's own saving
        // says so, and the text is in the editor still.
        console.warn("gpu-course:", error);
      } finally {
        context.gpuCourseSaving = false;
      }
    }

    // Tells the kernel of each cell that holds the text an editor saved: the file did not change
    // behind that cell's back. Nothing of it shows, and no name of the learner's is touched.
    tellKernels(name, text) {
      for (const cell of this.cellsOf(name)) {
        const session = this.cells.get(cell).notebook.sessionContext?.session;
        if (!session || !session.kernel || !sameText(this.body(cell), text)) continue;
        const module = '__import__("sys").modules.get("gpu_course.notebook.cells.puzzle_magic")';
        const told = [JSON.stringify(name), JSON.stringify(text)].join(", ");
        session.kernel.requestExecute({
          code: "",
          silent: true,
          store_history: false,
          user_expressions: { seen: `(lambda magic: magic and magic.seen(${told}))(${module})` }
        });
      }
    }

    read(path) {
      return this.contents.get(path, { type: "file", format: "text", content: true });
    }

    async keepBeside(path, text) {
      const now = new Date(Date.now() - 60000 * new Date().getTimezoneOffset());
      const stamp = now.toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
      const kept = path.replace(/\.py$/, `.kept-${stamp}.py`);
      await this.contents.save(kept, { type: "file", format: "text", content: text });
    }

    // What something else wrote ----------------------------------------------------------------

    async look() {
      if (document.hidden) return;
      // What is asked for during a look may be newer than what that look saw.
      this.lookAgain = this.looking;
      if (this.looking) return;
      this.looking = true;
      try {
        const folders = new Map();
        for (const path of this.wanted()) {
          const folder = path.slice(0, path.lastIndexOf("/"));
          folders.set(folder, [...(folders.get(folder) || []), path]);
        }
        for (const [folder, paths] of folders) {
          const listed = await this.contents.get(folder, { type: "directory", content: true });
          for (const item of listed.content) {
            if (paths.includes(item.path)) await this.seen(item.path, item.last_modified);
          }
        }
      } catch (error) {
        // A folder that is not there yet, or a server that is away: the next look will tell.
      } finally {
        this.looking = false;
      }
      if (this.lookAgain) this.look();
    }

    wanted() {
      const paths = new Set([...this.editors.keys()].map(context => context.path));
      for (const [cell, about] of this.cells) {
        const name = this.nameOf(cell);
        const lesson = /(?:^|\/)notebooks\/(\d\d_\w+?)(?:\.[^/]*)?\.ipynb$/.exec(about.notebook.path);
        if (name && lesson) {
          const root = about.notebook.path.slice(0, lesson.index);
          paths.add(`${root ? `${root}/` : ""}puzzles/${lesson[1]}/${name}.py`);
        }
      }
      return paths;
    }

    async seen(path, modified) {
      const known = this.files.get(path);
      const editor = [...this.editors.keys()].find(context => context.path === path);
      const stale =
        editor && editor.isReady && editor.contentsModel.last_modified !== modified;
      if (known && known.modified === modified && !stale) return;
      const file = await this.read(path);
      this.files.set(path, { modified: file.last_modified, text: file.content });
      if (stale && !editor.isDisposed) {
        if (editor.model.dirty) await this.save(editor);
        else await this.reload(editor);
      }
      if (!known) return;
      for (const cell of this.cellsOf(ANSWER.exec(path)[2])) {
        const body = this.body(cell);
        if (sameText(body, known.text) && !sameText(body, file.content)) {
          this.setCell(cell, file.content);
        }
      }
    }

    async reload(context) {
      const about = this.editors.get(context);
      about.mirroring = true;
      await context.revert();
      about.mirroring = false;
    }

    // What can be clicked in an output ---------------------------------------------------------

    clicked(event) {
      const target = event.target instanceof Element && event.target.closest("[data-gpu-course]");
      if (!target) return;
      if (target.getAttribute("data-gpu-course") === "go") {
        if (event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        this.goTo(target).catch(error => console.warn("gpu-course:", error));
        return;
      }
      event.preventDefault();
      const path = target.getAttribute("data-gpu-course-file");
      if (!ANSWER.test(path)) return;
      if (target.getAttribute("data-gpu-course") === "open") {
        this.app.commands.execute("docmanager:open", { path, options: { mode: "split-right" } });
      } else {
        this.loadInto(target, path);
      }
    }

    // Opens the notebook of a puzzle, and scrolls to its heading.
    async goTo(link) {
      const name = link.getAttribute("data-gpu-course-puzzle");
      const here = this.panelOf(link);
      const folder = here ? here.context.path.replace(/[^/]*$/, "") : "notebooks/";
      const file = link.getAttribute("data-gpu-course-notebook");
      const panel = await this.app.commands.execute("docmanager:open", { path: folder + file });
      if (!panel || !panel.content || !panel.content.scrollToItem) return;
      await panel.context.ready;
      await panel.revealed;
      const line = new RegExp(`^#+ Puzzle: \`?${name}\`?\\s*$`, "m");
      const cells = panel.content.widgets;
      const at = cells.findIndex(
        cell => cell.model.type === "markdown" && line.test(cell.model.sharedModel.getSource())
      );
      if (at < 0) return;
      panel.content.activeCellIndex = at;
      // Cells above get their height while they come into view, which moves the heading: it is
      // scrolled to until it has stayed where it was put for some frames.
      let before = null;
      let still = 0;
      for (let turn = 0; turn < MOST_TURNS && still < STILL_TURNS && !panel.isDisposed; turn++) {
        const heading = this.headingIn(cells[at], name);
        if (heading) {
          const top = heading.getBoundingClientRect().top;
          still = top === before ? still + 1 : 0;
          if (!still) heading.scrollIntoView({ block: "start" });
          before = heading.getBoundingClientRect().top;
        } else {
          await panel.content.scrollToItem(at, "start");
        }
        await new Promise(requestAnimationFrame);
      }
    }

    headingIn(cell, name) {
      const headings = [...cell.node.querySelectorAll("h1, h2, h3, h4, h5, h6")];
      const shown = heading => heading.textContent.replace(/\u00b6$/, "").trim();
      return headings.find(each => each.offsetParent && shown(each) === `Puzzle: ${name}`);
    }

    // Returns the notebook that something stands in.
    panelOf(node) {
      for (const panel of this.app.shell.widgets("main")) {
        if (panel.context && panel.node.contains(node)) return panel;
      }
      return null;
    }

    async loadInto(target, path) {
      const file = await this.read(path);
      for (const panel of this.app.shell.widgets("main")) {
        for (const cell of (panel.content && panel.content.widgets) || []) {
          if (cell.node && cell.node.contains(target)) {
            this.setCell(cell.model.sharedModel, file.content);
            this.files.set(path, { modified: file.last_modified, text: file.content });
          }
        }
      }
    }
  }

  const plugin = {
    id: "gpu-course:one-text",
    description: "Keeps the cell, the editor and the file of an answer in step.",
    autoStart: true,
    activate: app => {
      app.restored.then(() => new OneText(app).start());
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["gpu-course"] = {
    init: () => {},
    get: () => Promise.resolve(() => ({ __esModule: true, default: plugin }))
  };
})();
