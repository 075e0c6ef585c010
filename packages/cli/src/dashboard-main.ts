// The entry point of `bigfleet-dashboard`: the image of a process that people reach holds nothing of shard
// and coordinator.

import { realRuntime } from '@bigfleet/base/real';
import { nodeProcess } from '@bigfleet/process';
import { dashboardProgram } from './dashboard/command.ts';
import { runProgram } from './program.ts';

const context = { runtime: realRuntime(), port: nodeProcess };
process.exit(await runProgram(dashboardProgram, process.argv.slice(2), context));
