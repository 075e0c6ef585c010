// The fake provider: for tests, simulation and `--fake-provider`, never deployed.

export type { FakeSpec } from './fake/fake-machine.ts';
export type {
  FakeConfigureOrder,
  FakeDrainOrder,
  FakeOptions,
  Order,
} from './fake/fake-provider.ts';
export { FakeProvider } from './fake/fake-provider.ts';
export { InProcessProvider, type InProcessOptions } from './fake/in-process.ts';
export type { OperationKind } from './fake/fake-machine.ts';
export { seedSpecs, type SeedOptions } from './fake/seed.ts';
export { fakeHandlers } from './fake/service.ts';
export { type FakeServer, type FakeServerOptions, serveFake } from './fake-server.ts';
