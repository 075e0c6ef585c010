{{- /* What no schema can say: values that exclude or need each other. Each text says what to write instead. */}}
{{- define "bigfleet.checks" -}}
{{- $c := .Values.coordinator }}
{{- $s := .Values.shard }}
{{- $replicas := int $c.replicas }}
{{- if not (or $c.enabled $s.enabled) }}
{{- fail "bigfleet: coordinator.enabled and shard.enabled are both false: nothing would be installed" }}
{{- end }}
{{- if not (has $replicas (list 1 3 5)) }}
{{- fail (printf "bigfleet: coordinator.replicas is 1, 3 or 5, not %d: an even number survives no more failures than one replica less" $replicas) }}
{{- end }}
{{- if and (eq $c.store "sqlite") (gt $replicas 1) }}
{{- fail "bigfleet: coordinator.store=sqlite is for one replica: set coordinator.replicas=1, or leave the store at auto" }}
{{- end }}
{{- if and (eq $c.store "sqlite") $c.etcd.endpoints }}
{{- fail "bigfleet: coordinator.store=sqlite excludes coordinator.etcd.endpoints" }}
{{- end }}
{{- if and (eq $c.store "etcd") (eq (include "bigfleet.storeMode" .) "sqlite") }}
{{- fail "bigfleet: coordinator.store=etcd with one replica needs coordinator.etcd.endpoints" }}
{{- end }}
{{- if ne (empty $c.etcd.auth.username) (empty $c.etcd.auth.secretName) }}
{{- fail "bigfleet: coordinator.etcd.auth.username and coordinator.etcd.auth.secretName go together" }}
{{- end }}
{{- if and (not $c.etcd.endpoints) (or $c.etcd.auth.username $c.etcd.tls.secretName) }}
{{- fail "bigfleet: coordinator.etcd.auth and coordinator.etcd.tls are for coordinator.etcd.endpoints, which is empty" }}
{{- end }}
{{- range $c.etcd.endpoints }}
{{- if and (hasPrefix "http://" .) (or $.Values.requireTLS (include "bigfleet.coordinatorTLSSecret" $)) }}
{{- fail (printf "bigfleet: coordinator.etcd.endpoints: %s is plaintext: with TLS or requireTLS write https" .) }}
{{- end }}
{{- end }}
{{- if and $c.snapshotExport.volume (not $c.snapshotExport.dir) }}
{{- fail "bigfleet: coordinator.snapshotExport.volume needs coordinator.snapshotExport.dir, where it is mounted" }}
{{- end }}
{{- if and $c.snapshotExport.dir (not $c.snapshotExport.volume) (not (hasPrefix (printf "%s/" $c.dataDir) $c.snapshotExport.dir)) }}
{{- fail (printf "bigfleet: coordinator.snapshotExport.dir is below coordinator.dataDir (%s), or on coordinator.snapshotExport.volume: everything else is read-only" $c.dataDir) }}
{{- end }}
{{- if and $s.auditLog (not (hasPrefix (printf "%s/" $s.dataDir) $s.auditLog)) }}
{{- fail (printf "bigfleet: shard.auditLog is below shard.dataDir (%s): everything else is read-only" $s.dataDir) }}
{{- end }}
{{- if and $s.provider.addr $s.providers }}
{{- fail "bigfleet: shard.provider.addr and shard.providers exclude each other" }}
{{- end }}
{{- if and $s.tls.secretName $s.tls.secretNamePattern }}
{{- fail "bigfleet: shard.tls.secretName and shard.tls.secretNamePattern exclude each other" }}
{{- end }}
{{- if and $s.tls.secretName (gt (int $s.replicas) 1) }}
{{- fail "bigfleet: shard.tls.secretName fits one shard, because a certificate names its shard: set shard.tls.secretNamePattern, such as bigfleet-shard-{ordinal}-tls" }}
{{- end }}
{{- if and $s.tls.secretNamePattern (not (contains "{ordinal}" $s.tls.secretNamePattern)) }}
{{- fail "bigfleet: shard.tls.secretNamePattern has {ordinal} in it, such as bigfleet-shard-{ordinal}-tls" }}
{{- end }}
{{- if and .Values.certManager.enabled (not .Values.certManager.issuerRef.name) }}
{{- fail "bigfleet: certManager.issuerRef.name is required with certManager.enabled" }}
{{- end }}
{{- if and $s.tls.requireSessionCN $s.enabled (not (include "bigfleet.shardTLSPattern" .)) }}
{{- fail "bigfleet: shard.tls.requireSessionCN needs TLS: shard.tls.secretName, shard.tls.secretNamePattern or certManager.enabled" }}
{{- end }}
{{- if and .Values.requireTLS $c.enabled (not (include "bigfleet.coordinatorTLSSecret" .)) }}
{{- fail "bigfleet: requireTLS needs coordinator.tls.secretName or certManager.enabled" }}
{{- end }}
{{- if and .Values.requireTLS $s.enabled (not (include "bigfleet.shardTLSPattern" .)) }}
{{- fail "bigfleet: requireTLS needs shard.tls.secretName, shard.tls.secretNamePattern or certManager.enabled" }}
{{- end }}
{{- if and $c.enabled $s.enabled (ne (empty (include "bigfleet.coordinatorTLSSecret" .)) (empty (include "bigfleet.shardTLSPattern" .))) }}
{{- fail "bigfleet: coordinator.tls and shard.tls go together: a process with TLS does not speak to one without" }}
{{- end }}
{{- end }}
