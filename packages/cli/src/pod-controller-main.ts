// The entry point of `bigfleet-unschedulable-pod-controller`. It loads nothing of shard and coordinator: a
// process inside every cluster is paid for by its owner in memory.

import { realRuntime } from '@bigfleet/base/real';
import { nodeProcess } from '@bigfleet/process';
import { podControllerProgram } from './pod-controller/command.ts';
import { runProgram } from './program.ts';

const context = { runtime: realRuntime(), port: nodeProcess };
process.exit(await runProgram(podControllerProgram, process.argv.slice(2), context));
