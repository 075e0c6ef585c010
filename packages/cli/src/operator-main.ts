// The entry point of `bigfleet-operator`. It loads nothing of shard and coordinator: a
// process inside every cluster is paid for by its owner in memory.

import { realRuntime } from '@bigfleet/base/real';
import { nodeProcess } from '@bigfleet/process';
import { operatorProgram } from './operator/command.ts';
import { runProgram } from './program.ts';

const context = { runtime: realRuntime(), port: nodeProcess };
process.exit(await runProgram(operatorProgram, process.argv.slice(2), context));
