// The moving parts of the site, without a framework and without a network: the menu of small screens,
// the marked place in the table of contents, and the search. The index is loaded when somebody first
// searches, as a script beside this one, because a page from a disk may not fetch.

/** @typedef {[address: string, title: string, heading: string, words: string]} Entry */

const RESULTS = 12;
const base = document.body.dataset['base'] ?? './';

/**
 * An element that every page has.
 * @template {HTMLElement} T
 * @param {string} selector
 * @param {new () => T} type
 * @returns {T}
 */
function must(selector, type) {
  const found = document.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${selector}`);
}

// ── Menu, and the place in the page ─────────────────────────────────────────────────────────

const nav = must('#nav', HTMLElement);
const menu = must('.menu', HTMLButtonElement);
menu.addEventListener('click', () => {
  menu.setAttribute('aria-expanded', String(nav.classList.toggle('open')));
});
const current = nav.querySelector('[aria-current]');
if (current instanceof HTMLElement) nav.scrollTop = current.offsetTop - nav.clientHeight / 2;

// Browsers load no modules from a disk, and the playground is made of them: without a server its link
// leads to the page that says how to start one.
const playground = document.querySelector('a.playground');
if (playground instanceof HTMLAnchorElement && location.protocol === 'file:') {
  playground.href = `${base}quick-start.html#the-playground`;
}

/** @type {Map<string, HTMLAnchorElement>} */
const contents = new Map();
for (const link of document.querySelectorAll('.contents a')) {
  if (link instanceof HTMLAnchorElement) contents.set(decodeURIComponent(link.hash.slice(1)), link);
}
const headings = [...document.querySelectorAll('article h2[id], article h3[id]')];

/** The last heading above the upper quarter of the window is where the reader is. */
function markPlace() {
  const line = window.innerHeight / 4;
  const here = headings.filter((heading) => heading.getBoundingClientRect().top < line).pop();
  for (const [anchor, link] of contents) link.classList.toggle('here', anchor === here?.id);
}
if (contents.size > 0) {
  addEventListener('scroll', markPlace, { passive: true });
  markPlace();
}

// ── Search ──────────────────────────────────────────────────────────────────────────────────

const input = must('#search', HTMLInputElement);
const found = must('#found', HTMLUListElement);

/** @type {Promise<readonly Entry[]> | undefined} */
let loading;

/** @returns {Promise<readonly Entry[]>} */
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${base}assets/search-index.js`;
    script.addEventListener('load', () => {
      resolve(/** @type {readonly Entry[]} */ (Reflect.get(globalThis, 'bigfleetSearchIndex')));
    });
    script.addEventListener('error', () => {
      reject(new Error('The search index cannot be loaded.'));
    });
    document.head.append(script);
  });
  return loading;
}

/** The law, the records and the fields of messages come later: a reader who searches mostly asks how. */
const LATER = /^(?:spec\/|adr\/|api-reference)/;

/**
 * Every word must occur; a heading counts more than a title, a title more than the text.
 * @param {Entry} entry
 * @param {readonly string[]} wanted
 */
function rank([address, title, heading, words], wanted) {
  const [head, page] = [heading.toLowerCase(), title.toLowerCase()];
  let sum = 0;
  for (const word of wanted) {
    const score =
      (head === word ? 12 : 0) +
      (head.includes(word) ? 8 : 0) +
      (page.includes(word) ? 4 : 0) +
      (` ${words} `.includes(` ${word} `) ? 2 : words.includes(word) ? 1 : 0);
    if (score === 0) return 0;
    sum += score;
  }
  return LATER.test(address) ? sum / 2 : sum;
}

/**
 * @param {Entry} entry
 * @param {number} at
 */
function resultItem([address, title, heading], at) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const name = document.createElement('strong');
  const place = document.createElement('span');
  name.textContent = heading;
  place.textContent = title === heading ? '' : title;
  link.href = base + address;
  link.tabIndex = -1;
  link.append(name, place);
  item.id = `found-${at}`;
  item.setAttribute('role', 'option');
  item.append(link);
  return item;
}

let chosen = -1;

/** @param {number} at */
function choose(at) {
  const items = [...found.querySelectorAll('[role="option"]')];
  chosen = items.length === 0 ? -1 : (at + items.length) % items.length;
  for (const [index, item] of items.entries()) {
    item.setAttribute('aria-selected', String(index === chosen));
    if (index === chosen) item.scrollIntoView({ block: 'nearest' });
  }
  input.setAttribute('aria-activedescendant', items[chosen]?.id ?? '');
}

/** @param {boolean} isShown */
function show(isShown) {
  found.hidden = !isShown;
  input.setAttribute('aria-expanded', String(isShown));
}

/** @param {string} text */
function say(text) {
  const item = document.createElement('li');
  item.className = 'none';
  item.textContent = text;
  found.replaceChildren(item);
  show(true);
}

async function search() {
  const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) {
    show(false);
    return;
  }
  const index = await loadIndex();
  const ranked = index
    .map((entry) => ({ entry, score: rank(entry, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, RESULTS);
  if (ranked.length === 0) {
    say('Nothing found.');
    return;
  }
  found.replaceChildren(...ranked.map(({ entry }, at) => resultItem(entry, at)));
  show(true);
  choose(0);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key === 'ArrowDown') choose(chosen + 1);
  else if (event.key === 'ArrowUp') choose(chosen - 1);
  else if (event.key === 'Enter') {
    const link = found.querySelector('[aria-selected="true"] a');
    if (link instanceof HTMLAnchorElement) location.assign(link.href);
    show(false);
  } else if (event.key === 'Escape') {
    show(false);
    input.blur();
  } else return;
  event.preventDefault();
}

input.addEventListener('input', () => {
  search().catch((/** @type {unknown} */ error) => {
    say(error instanceof Error ? error.message : String(error));
  });
});
input.addEventListener('keydown', onKey);
document.addEventListener('keydown', (event) => {
  const isTyping = document.activeElement instanceof HTMLInputElement;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  input.focus();
});
document.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('.search') === null) show(false);
});
