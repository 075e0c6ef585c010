// Light or dark: the system's wish until a reader chooses, then theirs, kept in this browser. Canvases
// cannot use CSS variables, so they take their colours here and are told when they change; nor are they drawn
// again by themselves when the font has come whose letters they wanted.

import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'bigfleet-theme';
const watchers = new Set<() => void>();
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
let choice: ThemeChoice = readChoice();
let colours = new Map<string, string>();
/** Counts up with each change of colours or letters. */
let version = 0;

function readChoice(): ThemeChoice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    // A browser that keeps nothing for us: the system's wish stands.
    return 'system';
  }
}

function apply(): void {
  const isDark = choice === 'dark' || (choice === 'system' && systemIsDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  colours = new Map();
  tellAll();
}

function tellAll(): void {
  version += 1;
  for (const told of watchers) told();
}

/** Before the first render, so that no page flashes in the other theme. */
export function startTheme(): void {
  apply();
  systemIsDark.addEventListener('change', apply);
  document.fonts.addEventListener('loadingdone', tellAll);
}

export function setTheme(next: ThemeChoice): void {
  choice = next;
  try {
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Not kept: it holds until the tab is closed.
  }
  apply();
}

export function useTheme(): ThemeChoice {
  return useSyncExternalStore(watchTheme, () => choice);
}

export function useColourVersion(): number {
  return useSyncExternalStore(watchTheme, () => version);
}

function watchTheme(told: () => void): () => void {
  watchers.add(told);
  return () => void watchers.delete(told);
}

/** The value of a custom property in the theme of now. */
export function colourOf(token: string): string {
  let colour = colours.get(token);
  if (colour === undefined) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(token).trim();
    colours.set(token, colour);
  }
  return colour;
}
