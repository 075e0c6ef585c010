// What a comparison needs of each side. Ours and the bare library implement the same verbs;
// server and client of a side live in different processes, as they do in production.

import type { Machine } from '@bigfleet/wire';
import type { Flight } from './flight.ts';

export type SideName = 'ours' | 'bare';

export interface ClientSide {
  get(id: string): Promise<Machine>;
  /** One session from its opening to its end; each frame of the flight is answered in between. */
  fly(flight: Flight): Promise<void>;
  close(): void;
}
