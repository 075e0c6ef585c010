// Controls that write into the URL: filters, choices, tabs; and the tree.

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { after } from '../browser.ts';

export type Filter<K extends string> =
  | {
      readonly kind: 'choice';
      readonly name: K;
      readonly label: string;
      /** Empty is any. */
      readonly options: readonly string[];
    }
  | {
      readonly kind: 'text';
      readonly name: K;
      readonly label: string;
      readonly hint?: string;
      /** Names to choose from; any other text may be typed too. */
      readonly known?: readonly string[];
    }
  | { readonly kind: 'flag'; readonly name: K; readonly label: string };

/** Filters of a page. `values` is its search, `onChange` its setter: nothing is kept here. */
export function FilterBar<S extends object, K extends keyof S & string>({
  filters,
  values,
  onChange,
  children,
}: {
  readonly filters: readonly Filter<K>[];
  readonly values: S;
  readonly onChange: (patch: Partial<S>) => void;
  readonly children?: ReactNode;
}): ReactNode {
  const set = (name: K, value: string | boolean): void => {
    onChange({ [name]: value } as unknown as Partial<S>);
  };
  const isFiltered = filters.some((filter) => {
    const value = values[filter.name];
    return value !== '' && value !== false;
  });
  const clear = (): void => {
    const patch: Record<string, string | boolean> = {};
    for (const filter of filters) patch[filter.name] = filter.kind === 'flag' ? false : '';
    onChange(patch as unknown as Partial<S>);
  };
  return (
    <div className="filters" role="search" aria-label="Filters">
      {filters.map((filter) => {
        const value = values[filter.name];
        switch (filter.kind) {
          case 'choice':
            return (
              <label key={filter.name} className="filter">
                <span>{filter.label}</span>
                <select
                  value={String(value)}
                  onChange={(event) => set(filter.name, event.target.value)}
                >
                  <option value="">any</option>
                  {filter.options.map((option) => (
                    <option key={option} value={option}>
                      {option}
                    </option>
                  ))}
                  {/* A value of the URL that is no longer on offer must still be seen. */}
                  {value !== '' && !filter.options.includes(String(value)) ? (
                    <option value={String(value)}>{String(value)}</option>
                  ) : null}
                </select>
              </label>
            );
          case 'text':
            return (
              <label key={filter.name} className="filter">
                <span>{filter.label}</span>
                <TextFilter
                  value={String(value)}
                  hint={filter.hint ?? ''}
                  known={filter.known ?? []}
                  onValue={(text) => set(filter.name, text)}
                />
              </label>
            );
          case 'flag':
            return (
              <label key={filter.name} className="filter filter-flag">
                <input
                  type="checkbox"
                  checked={value === true}
                  onChange={(event) => set(filter.name, event.target.checked)}
                />
                <span>{filter.label}</span>
              </label>
            );
          default:
            return filter satisfies never;
        }
      })}
      {isFiltered ? (
        <button type="button" className="plain" onClick={clear}>
          Clear
        </button>
      ) : null}
      {children}
    </div>
  );
}

const TYPING_MS = 250;

/** Tells after a pause in typing, or on Enter: each letter would be a question to the server. */
function TextFilter({
  value,
  hint,
  known,
  onValue,
}: {
  readonly value: string;
  readonly hint: string;
  readonly known: readonly string[];
  readonly onValue: (value: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    setTyped(value);
  }
  const told = useRef(onValue);
  useEffect(() => {
    told.current = onValue;
  });
  useEffect(() => {
    if (typed === value) return undefined;
    return after(TYPING_MS, () => told.current(typed.trim()));
  }, [typed, value]);
  const listId = useId();
  return (
    <>
      <input
        type="search"
        value={typed}
        placeholder={hint}
        list={known.length === 0 ? undefined : listId}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onValue(typed.trim());
        }}
      />
      {known.length === 0 ? null : (
        <datalist id={listId}>
          {known.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** One of a few, side by side. */
export function Segmented<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: ReactNode }[];
  readonly onChange: (value: T) => void;
}): ReactNode {
  return (
    <div className="segmented" role="radiogroup" aria-label={label} onKeyDown={walkRadios}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}

function walkRadios(event: KeyboardEvent<HTMLDivElement>): void {
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step === 0) return;
  const radios = [...event.currentTarget.querySelectorAll('button')];
  const at = radios.indexOf(event.target as HTMLButtonElement);
  const next = radios[(at + step + radios.length) % radios.length];
  event.preventDefault();
  next?.focus();
  next?.click();
}
