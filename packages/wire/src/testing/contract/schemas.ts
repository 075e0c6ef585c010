// Every generated descriptor in one list, so that a test over "all messages" cannot miss one: the
// golden test compares this list of files with the .proto files in the tree.

import type { DescEnum, DescFile, DescMessage } from '@bufbuild/protobuf';
import { file_bigfleet_ext_v1alpha1_services } from '../../gen/bigfleet/ext/v1alpha1/services_pb.ts';
import { file_bigfleet_ext_v1alpha1_types } from '../../gen/bigfleet/ext/v1alpha1/types_pb.ts';
import { file_bigfleet_v1alpha1_capacity } from '../../gen/bigfleet/v1alpha1/capacity_pb.ts';
import { file_bigfleet_v1alpha1_coordinator } from '../../gen/bigfleet/v1alpha1/coordinator_pb.ts';
import { file_bigfleet_v1alpha1_provider } from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { file_bigfleet_v1alpha1_shard } from '../../gen/bigfleet/v1alpha1/shard_pb.ts';
import { file_bigfleet_v1alpha1_shardread } from '../../gen/bigfleet/v1alpha1/shardread_pb.ts';
import { file_etcd_kv } from '../../gen/etcd/kv_pb.ts';
import { file_etcd_rpc } from '../../gen/etcd/rpc_pb.ts';
import { file_grpc_health_v1_health } from '../../gen/grpc/health/v1/health_pb.ts';
import { file_grpc_reflection_v1_reflection } from '../../gen/grpc/reflection/v1/reflection_pb.ts';

export const establishedFiles: readonly DescFile[] = [
  file_bigfleet_v1alpha1_capacity,
  file_bigfleet_v1alpha1_provider,
  file_bigfleet_v1alpha1_shard,
  file_bigfleet_v1alpha1_shardread,
  file_bigfleet_v1alpha1_coordinator,
];

export const allFiles: readonly DescFile[] = [
  ...establishedFiles,
  file_bigfleet_ext_v1alpha1_types,
  file_bigfleet_ext_v1alpha1_services,
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_etcd_kv,
  file_etcd_rpc,
];

export function messagesOf(files: readonly DescFile[]): DescMessage[] {
  return files.flatMap((file) => file.messages.flatMap(withNestedMessages));
}

export function enumsOf(files: readonly DescFile[]): DescEnum[] {
  return [
    ...files.flatMap((file) => file.enums),
    ...messagesOf(files).flatMap((message) => message.nestedEnums),
  ];
}

function withNestedMessages(message: DescMessage): DescMessage[] {
  return [message, ...message.nestedMessages.flatMap(withNestedMessages)];
}
