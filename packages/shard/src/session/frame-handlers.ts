// What a session does with the frames of its operator, as the parts that own the answers. The fast
// ones run inline on the receive path and must finish in microseconds; a roll-up is only put into
// its lane (shard §4.2). A slow roll-up handled inline once delayed bootstrap responses past their
// deadline and pushed healthy machines to Failed.

import type { BootstrapBlobResponse, NodeIdentityReport, ReclaimAck } from '@bigfleet/wire';
import type { Session } from './session.ts';

export interface FrameHandlers {
  rollup(session: Session, bytes: Uint8Array): void;
  bootstrapResponse(session: Session, response: BootstrapBlobResponse): void;
  reclaimAck(session: Session, ack: ReclaimAck): void;
  nodeIdentity(session: Session, report: NodeIdentityReport): void;
}

export interface SessionEvents {
  /** Installed and greeted: replay, reissue. */
  opened(session: Session): void;
  /** Over. `isReplaced`: a newer session of the same cluster is already there. */
  closed(session: Session, isReplaced: boolean): void;
}
