// `make etcd`: builds etcd and etcdutl of go.mod into the cache folder, once per go.sum. Without Go,
// or without its module proxy, it says so and succeeds: the tests then run on Debian's etcd.

import { buildGoPrograms } from '../toolkit/index.ts';
import { ETCD_MODULE } from './binaries.ts';

const result = buildGoPrograms(ETCD_MODULE);
switch (result.kind) {
  case 'present':
    console.log(`etcd: already built in ${result.folder}`);
    break;
  case 'built':
    console.log(`etcd: built into ${result.folder}`);
    break;
  case 'failed':
    console.log(`etcd: not built, Debian's will be used: ${result.problem}`);
}
