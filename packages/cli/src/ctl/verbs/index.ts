// Every verb of bigfleetctl, in the order in which help and the reference page show them.

import type { Verb } from '../frame/verb.ts';
import { assignDomainVerb } from './assign-domain.ts';
import { bindClusterVerb } from './bind-cluster.ts';
import { brakesClearVerb } from './brakes-clear.ts';
import { clusterForgetVerb } from './cluster-forget.ts';
import { createCompletionVerb } from './completion.ts';
import { configDeleteContextVerb } from './config-delete-context.ts';
import { configGetContextsVerb } from './config-get-contexts.ts';
import { configSetContextVerb } from './config-set-context.ts';
import { configUseContextVerb } from './config-use-context.ts';
import { configViewVerb } from './config-view.ts';
import { deregisterProviderVerb } from './deregister-provider.ts';
import { describeVerb } from './describe.ts';
import { doctorVerb } from './doctor.ts';
import { explainVerb } from './explain.ts';
import { getVerb } from './get.ts';
import { inspectNeedsVerb } from './inspect-needs.ts';
import { listClustersVerb } from './list-clusters.ts';
import { listDomainAssignmentsVerb } from './list-domain-assignments.ts';
import { listProvidersVerb } from './list-providers.ts';
import { listQuotasVerb } from './list-quotas.ts';
import { listShardReportsVerb } from './list-shard-reports.ts';
import { listShardsVerb } from './list-shards.ts';
import { listTransfersVerb } from './list-transfers.ts';
import { pauseVerb } from './pause.ts';
import { providerResetFailedVerb } from './provider-reset-failed.ts';
import { railsVerb } from './rails.ts';
import { recordsVerb } from './records.ts';
import { registerProviderVerb } from './register-provider.ts';
import { removeShardVerb } from './remove-shard.ts';
import { resumeVerb } from './resume.ts';
import { setQuotaVerb } from './set-quota.ts';
import { settleVerb } from './settle.ts';
import { snapshotRestoreVerb } from './snapshot-restore.ts';
import { snapshotSaveVerb } from './snapshot-save.ts';
import { statusVerb } from './status.ts';
import { topVerb } from './top.ts';
import { unassignDomainVerb } from './unassign-domain.ts';
import { unbindClusterVerb } from './unbind-cluster.ts';
import { versionVerb } from './version.ts';

export const VERBS: readonly Verb[] = [
  topVerb,
  statusVerb,
  getVerb,
  listShardsVerb,
  listShardReportsVerb,
  listClustersVerb,
  listDomainAssignmentsVerb,
  listProvidersVerb,
  listQuotasVerb,
  listTransfersVerb,
  describeVerb,
  doctorVerb,
  explainVerb,
  inspectNeedsVerb,
  recordsVerb,
  pauseVerb,
  resumeVerb,
  railsVerb,
  clusterForgetVerb,
  brakesClearVerb,
  assignDomainVerb,
  unassignDomainVerb,
  removeShardVerb,
  settleVerb,
  setQuotaVerb,
  registerProviderVerb,
  deregisterProviderVerb,
  bindClusterVerb,
  unbindClusterVerb,
  providerResetFailedVerb,
  snapshotSaveVerb,
  snapshotRestoreVerb,
  configGetContextsVerb,
  configUseContextVerb,
  configSetContextVerb,
  configDeleteContextVerb,
  configViewVerb,
  createCompletionVerb(() => VERBS),
  versionVerb,
];
