// Runs a template. It can print, look at its data and call the functions of `functions.ts`, nothing
// else: no JavaScript value is reachable, work and output are bounded, so that a template of a cluster's
// owner cannot hang or fill the operator. An unknown field ends the run with an error, never with an
// empty string: a blob without its cluster id boots a machine that joins nothing.

import { type Called, callFunction, isShortCircuit } from './functions.ts';
import { printed } from './format.ts';
import type { Node, Operand, Pipe, Template } from './parse.ts';
import { isTrue, Struct, TemplateError, TemplateRefusal, typeName, type Value } from './value.ts';

/** Cloud user data is far smaller. */
const MAX_OUTPUT_LENGTH = 1 << 20;
const MAX_STEPS = 1_000_000;
const MAX_DEPTH = 100;

export function executeTemplate(template: Template, data: Value): string {
  const run = new Run(template, data);
  run.walk(template.main, data);
  return run.output;
}

interface Variable {
  readonly name: string;
  value: Value;
}

type Ended = 'break' | 'continue' | undefined;

class Run {
  output = '';
  readonly #template: Template;
  #variables: Variable[];
  #stepCount = 0;
  #depth = 0;

  constructor(template: Template, data: Value) {
    this.#template = template;
    this.#variables = [{ name: '$', value: data }];
  }

  walk(nodes: readonly Node[], dot: Value): Ended {
    for (const node of nodes) {
      const ended = this.#node(node, dot);
      if (ended !== undefined) return ended;
    }
    return undefined;
  }

  #node(node: Node, dot: Value): Ended {
    this.#step();
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return undefined;
      case 'action': {
        const value = this.#pipe(node.pipe, dot);
        if (node.pipe.variables.length === 0) this.#write(printed(value));
        return undefined;
      }
      case 'if':
      case 'with':
        return this.#choose(node, dot);
      case 'range':
        this.#scoped(() => this.#range(node, dot));
        return undefined;
      case 'template':
        this.#call(node, dot);
        return undefined;
      default:
        return node.kind;
    }
  }

  #choose(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: Value): Ended {
    return this.#scoped(() => {
      const value = this.#pipe(node.pipe, dot);
      const inner = node.kind === 'with' ? value : dot;
      return isTrue(value) ? this.walk(node.body, inner) : this.walk(node.otherwise, dot);
    });
  }

  #range(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: Value): void {
    // Declared variables stand for the elements, not for the list.
    const { variables, isAssignment } = node.pipe;
    const list = this.#pipe({ ...node.pipe, variables: [] }, dot);
    const items = this.#items(list);
    let index = 0n;
    for (const item of items) {
      this.#step();
      const ended = this.#scoped(() => {
        const [first, second] = variables;
        if (first !== undefined) {
          this.#set(first, second === undefined ? item : index, isAssignment);
        }
        if (second !== undefined) this.#set(second, item, isAssignment);
        return this.walk(node.body, item);
      });
      index++;
      if (ended === 'break') break;
    }
    if (index === 0n) this.walk(node.otherwise, dot);
  }

  *#items(list: Value): Iterable<Value> {
    if (list === null) return;
    if (typeof list === 'bigint') {
      for (let i = 0n; i < list; i++) yield i;
    } else if (typeof list === 'object' && !(list instanceof Struct)) {
      yield* list;
    } else {
      throw new TemplateError(`range can't iterate over ${printed(list)}`);
    }
  }

  #call(node: Extract<Node, { kind: 'template' }>, dot: Value): void {
    const body = this.#template.defined.get(node.name);
    if (body === undefined) {
      throw new TemplateError(`line ${node.line}: template "${node.name}" not defined`);
    }
    const data = node.pipe === undefined ? null : this.#pipe(node.pipe, dot);
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('exceeded maximum template depth');
    const outer = this.#variables;
    this.#variables = [{ name: '$', value: data }];
    this.walk(body, data);
    this.#variables = outer;
    this.#depth--;
  }

  // ── pipelines ───────────────────────────────────────────────────────────────────────────

  #pipe(pipe: Pipe, dot: Value): Value {
    let value: Value | undefined;
    for (const command of pipe.commands) {
      value = this.#located(pipe, () => this.#command(command, { dot, piped: value }));
    }
    const result = value ?? null;
    for (const name of pipe.variables) this.#set(name, result, pipe.isAssignment);
    return result;
  }

  /** Errors name the line of the action they happened in. */
  #located<T>(pipe: Pipe, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const isPlain = error instanceof TemplateError && !(error instanceof TemplateRefusal);
      if (!isPlain || error.message.startsWith('line ')) throw error;
      throw new TemplateError(`line ${pipe.line}: ${error.message}`, { cause: error });
    }
  }

  #command(
    command: readonly Operand[],
    context: { readonly dot: Value; readonly piped: Value | undefined },
  ): Value {
    this.#step();
    const [first, ...rest] = command;
    const { dot, piped } = context;
    if (first?.kind === 'function') {
      const args: Called[] = rest.map((operand) => () => this.#operand(operand, dot));
      if (piped !== undefined) args.push(() => piped);
      return callFunction(first.name, isShortCircuit(first.name) ? args : args.map(settled));
    }
    if (first === undefined) throw new TemplateError('empty command');
    if (rest.length > 0 || piped !== undefined) {
      throw new TemplateError("can't give argument to non-function");
    }
    if (first.kind === 'nil') throw new TemplateError('nil is not a command');
    return this.#operand(first, dot);
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.kind) {
      case 'constant':
        return operand.value;
      case 'nil':
        return null;
      case 'function':
        return callFunction(operand.name, []);
      case 'dot':
        return fieldOf(dot, operand.fields);
      case 'root':
        return fieldOf(this.#variables[0]?.value ?? null, operand.fields);
      case 'variable':
        return fieldOf(this.#find(operand.name).value, operand.fields);
      case 'pipe':
        return fieldOf(this.#pipe(operand.pipe, dot), operand.fields);
    }
  }

  // ── variables and bounds ────────────────────────────────────────────────────────────────

  #find(name: string): Variable {
    const found = this.#variables.findLast((variable) => variable.name === name);
    if (found === undefined) throw new TemplateError(`undefined variable: ${name}`);
    return found;
  }

  #set(name: string, value: Value, isAssignment: boolean): void {
    if (isAssignment) this.#find(name).value = value;
    else this.#variables.push({ name, value });
  }

  #scoped<T>(work: () => T): T {
    const outer = this.#variables.length;
    try {
      return work();
    } finally {
      this.#variables.length = outer;
    }
  }

  #write(text: string): void {
    this.output += text;
    if (this.output.length > MAX_OUTPUT_LENGTH) throw new TemplateError('the output is too long');
  }

  #step(): void {
    if (++this.#stepCount > MAX_STEPS) throw new TemplateError('the template runs too long');
  }
}

/** Go evaluates the arguments of a plain function first, in order. */
function settled(argument: Called): Called {
  const value = argument();
  return () => value;
}

function fieldOf(value: Value, fields: readonly string[]): Value {
  let current = value;
  for (const field of fields) {
    if (current === null) throw new TemplateError(`nil data; no entry for key "${field}"`);
    const next = current instanceof Struct ? current.fields.get(field) : undefined;
    if (next === undefined) {
      throw new TemplateError(`can't evaluate field ${field} in type ${typeName(current)}`);
    }
    current = next;
  }
  return current;
}
