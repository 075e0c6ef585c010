// A canvas that is sharp on every screen and drawn at most once per frame. It draws again when its size,
// the theme or its `draw` changes, when its font has come, and when somebody calls `redraw`.

import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
} from 'react';
import { nextFrame } from '../browser.ts';
import { colourOf, useColourVersion } from '../lib/theme.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** In CSS pixels: the context is scaled already and cleared. */
export type Draw = (
  context: CanvasRenderingContext2D,
  size: Size,
  colour: (token: string) => string,
) => void;

export interface CanvasHandle {
  redraw(): void;
  /** Draws over what is there, unless all of it is about to be drawn anyway. */
  patch(draw: Draw): void;
  readonly element: HTMLCanvasElement | null;
}

export interface CanvasProps {
  readonly draw: Draw;
  /** What a screen reader says of the picture; a table with the same facts stands near. */
  readonly label: string;
  readonly handle?: RefObject<CanvasHandle | null>;
  readonly className?: string;
  readonly cursor?: string;
  readonly onMove?: (x: number, y: number, event: PointerEvent<HTMLCanvasElement>) => void;
  readonly onDown?: (x: number, y: number, event: PointerEvent<HTMLCanvasElement>) => void;
  readonly onUp?: (x: number, y: number, event: PointerEvent<HTMLCanvasElement>) => void;
  readonly onLeave?: () => void;
  /** Not passive: it may hold the page's own scrolling back. */
  readonly onWheel?: (x: number, y: number, event: WheelEvent) => void;
  readonly onKeyDown?: (event: KeyboardEvent<HTMLCanvasElement>) => void;
  readonly onFocus?: () => void;
  readonly onBlur?: () => void;
  readonly onSize?: (size: Size) => void;
}

export function Canvas(props: CanvasProps): ReactNode {
  const { draw, label, handle, onWheel, onSize } = props;
  const element = useRef<HTMLCanvasElement>(null);
  const size = useRef<Size>({ width: 0, height: 0 });
  const pending = useRef<(() => void) | null>(null);
  const colours = useColourVersion();

  const redraw = useCallback(() => {
    if (pending.current !== null) return;
    pending.current = nextFrame(() => {
      pending.current = null;
      const canvas = element.current;
      const context = canvas?.getContext('2d');
      if (!canvas || !context) return;
      const ratio = devicePixelRatio || 1;
      const { width, height } = size.current;
      const pixelWidth = Math.round(width * ratio);
      const pixelHeight = Math.round(height * ratio);
      if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
      if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      draw(context, size.current, colourOf);
    });
    // A new theme or font is a new picture: `colours` counts them.
  }, [draw, colours]);

  useImperativeHandle(
    handle,
    () => ({
      redraw,
      patch: (over: Draw) => {
        const context = element.current?.getContext('2d');
        if (pending.current !== null || !context) return;
        over(context, size.current, colourOf);
      },
      get element() {
        return element.current;
      },
    }),
    [redraw],
  );

  useEffect(() => {
    redraw();
    return () => {
      pending.current?.();
      pending.current = null;
    };
  }, [redraw]);

  useEffect(() => {
    const canvas = element.current;
    if (canvas === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const { width, height } = entry.contentRect;
      size.current = { width, height };
      onSize?.(size.current);
      redraw();
    });
    observer.observe(canvas);
    return () => observer.disconnect();
  }, [redraw, onSize]);

  useEffect(() => {
    const canvas = element.current;
    if (canvas === null || onWheel === undefined) return undefined;
    const wheel = (event: WheelEvent): void => {
      const box = canvas.getBoundingClientRect();
      onWheel(event.clientX - box.left, event.clientY - box.top, event);
    };
    canvas.addEventListener('wheel', wheel, { passive: false });
    return () => canvas.removeEventListener('wheel', wheel);
  }, [onWheel]);

  const placed =
    (told: CanvasProps['onMove']) =>
    (event: PointerEvent<HTMLCanvasElement>): void => {
      if (told === undefined) return;
      const box = event.currentTarget.getBoundingClientRect();
      told(event.clientX - box.left, event.clientY - box.top, event);
    };

  return (
    <canvas
      ref={element}
      className={props.className === undefined ? 'chart' : `chart ${props.className}`}
      style={props.cursor === undefined ? undefined : { cursor: props.cursor }}
      // A picture that takes keys is an application to a screen reader; any other is an image.
      role={props.onKeyDown === undefined ? 'img' : 'application'}
      aria-label={label}
      tabIndex={props.onKeyDown === undefined ? undefined : 0}
      onPointerMove={placed(props.onMove)}
      onPointerDown={placed(props.onDown)}
      onPointerUp={placed(props.onUp)}
      onPointerLeave={props.onLeave}
      onKeyDown={props.onKeyDown}
      onFocus={props.onFocus}
      onBlur={props.onBlur}
    />
  );
}

/** As much of a text as has room, with an ellipsis for the rest. */
export function cutText(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let length = Math.max(1, Math.floor((text.length * room) / context.measureText(text).width) - 1);
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
  return `${text.slice(0, length)}…`;
}

/** Beside a pointer inside a canvas's box; it turns to the other side before it would be cut. */
export function Tip({
  at,
  children,
}: {
  readonly at: { readonly x: number; readonly y: number } | null;
  readonly children: ReactNode;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tip = box.current;
    const parent = tip?.offsetParent;
    if (at === null || tip === null || !(parent instanceof HTMLElement)) return;
    const left =
      at.x + 14 + tip.offsetWidth > parent.clientWidth ? at.x - 14 - tip.offsetWidth : at.x + 14;
    const top = Math.min(at.y + 14, parent.clientHeight - tip.offsetHeight - 4);
    tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  });
  if (at === null) return null;
  return (
    <div ref={box} className="tip" role="presentation">
      {children}
    </div>
  );
}
