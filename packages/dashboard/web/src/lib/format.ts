// How numbers, money and times read, everywhere the same. Formatting only: no figure is computed here.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const wholeDollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const compactNumber = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumFractionDigits: 1,
});
const percents = new Intl.NumberFormat('en-US', { style: 'percent', maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dayAndClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const full = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});

export function formatCount(count: number): string {
  return whole.format(count);
}

/** 12.3K: for axes and narrow places; the whole number stands in the title. */
export function formatCompact(value: number): string {
  return compactNumber.format(value);
}

/** To the cent. */
export function formatCents(dollars: number): string {
  return cents.format(dollars);
}

/** Cents while they can matter to a reader: below a thousand dollars. */
export function formatDollars(dollars: number): string {
  return Math.abs(dollars) < 1_000 ? cents.format(dollars) : wholeDollars.format(dollars);
}

/** A price of one machine: sub-cent prices keep their digits. */
export function formatPrice(dollars: number): string {
  const isWholeCents = Math.abs(dollars * 100 - Math.round(dollars * 100)) < 1e-9;
  if (isWholeCents) return cents.format(dollars);
  return `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toFixed(4)}`;
}

export function formatProbability(probability: number): string {
  return probability === 0 ? '0%' : percents.format(probability);
}

export function formatPercent(fraction: number): string {
  return percents.format(fraction);
}

/** 850 ms, 12 s, 4 min, 3 h 20 min, 2 d 4 h. */
export function formatDuration(ms: number): string {
  const size = Math.max(0, ms);
  if (size < 1_000) return `${Math.round(size)} ms`;
  const seconds = size / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

export function formatAgo(thenMs: number, nowMs: number): string {
  const ms = nowMs - thenMs;
  if (ms < -1_000) return `in ${formatDuration(-ms)}`;
  if (ms < 1_000) return 'just now';
  return `${formatDuration(Math.floor(ms / 1_000) * 1_000).replace(/\.0 s/, ' s')} ago`;
}

export function formatClock(atMs: number): string {
  return clock.format(atMs);
}

export function formatMoment(atMs: number): string {
  return dayAndClock.format(atMs);
}

export function formatFull(atMs: number): string {
  return full.format(atMs);
}

/** `n machine`, `n machines`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
