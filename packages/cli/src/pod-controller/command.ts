// `bigfleet-unschedulable-pod-controller`.

import { startPodController } from '@bigfleet/pod-controller';
import { serveCommand, type ServeOptions, type Serving } from '../command.ts';
import { reflectionWarnings } from '../kube-flags.ts';
import { type Program, programWording, unhandledBug } from '../program.ts';
import { podControllerFlags } from './flags.ts';
import { type PodControllerCommand, podControllerSettings } from './settings.ts';

const wording = programWording(
  'bigfleet-unschedulable-pod-controller',
  'unschedulable-pod-controller',
);

export const podControllerProgram: Program = {
  wording,
  command: serveCommand({
    name: 'unschedulable-pod-controller',
    wording,
    summary: 'one CapacityRequest for every Pod of a cluster, for the whole life of the Pod',
    flags: podControllerFlags,
    settings: podControllerSettings,
    warnings: ({ hasReflection }) => reflectionWarnings(hasReflection),
    start,
  }),
};

async function start(options: ServeOptions<PodControllerCommand>): Promise<Serving> {
  const { settings } = options.settings;
  const running = await startPodController({ ...options, settings });
  return { ...running, failed: Promise.race([running.failed, unhandledBug(options.port)]) };
}
