// The design system's face: pages take their parts from here.

export * from './bars.tsx';
export * from './columns.tsx';
export * from './controls.tsx';
export * from './marks.tsx';
export * from './page.tsx';
export * from './palette.ts';
export * from './states.tsx';
export * from './table.tsx';
