{{- /* Parts of the control plane are told apart by app.kubernetes.io/name: "bigfleet-coordinator",
"bigfleet-shard", or "bigfleet" for what belongs to both. Takes (list $ <name>). */}}
{{- define "bigfleet.labels" -}}
{{- $root := first . }}
{{- include "bigfleet.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "bigfleet.selector" -}}
{{- $root := first . -}}
app.kubernetes.io/name: {{ last . }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- end }}

{{- /* A tag, or a digest: sha256:… */}}
{{- define "bigfleet.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "bigfleet.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary "bigfleet" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "bigfleet.coordinatorHost" -}}
bigfleet-coordinator.{{ .Values.namespace }}.svc
{{- end }}

{{- /* "sqlite", "managed" (an etcd beside each replica) or "external". */}}
{{- define "bigfleet.storeMode" -}}
{{- if .Values.coordinator.etcd.endpoints }}external
{{- else if gt (int .Values.coordinator.replicas) 1 }}managed
{{- else }}sqlite
{{- end }}
{{- end }}

{{- /* The Secret that coordinators read, whoever writes it. Empty is plaintext. */}}
{{- define "bigfleet.coordinatorTLSSecret" -}}
{{- .Values.coordinator.tls.secretName | default (ternary "bigfleet-coordinator-tls" "" .Values.certManager.enabled) }}
{{- end }}

{{- /* Names of the shards' Secrets with {ordinal} in them, or one name for the only shard. */}}
{{- define "bigfleet.shardTLSPattern" -}}
{{- with .Values.shard.tls }}
{{- .secretName | default .secretNamePattern | default (ternary "bigfleet-shard-{ordinal}-tls" "" $.Values.certManager.enabled) }}
{{- end }}
{{- end }}

{{- define "bigfleet.podSpec" -}}
serviceAccountName: {{ include "bigfleet.serviceAccount" . }}
# Neither program speaks to the API server.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "bigfleet.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "bigfleet.podName" -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end }}

{{- /* Takes (list <name> <storage> $ <app name>). */}}
{{- define "bigfleet.claim" -}}
{{- $storage := index . 1 -}}
metadata:
  name: {{ index . 0 }}
  labels: {{- include "bigfleet.selector" (list (index . 2) (index . 3)) | nindent 4 }}
spec:
  accessModes: [ReadWriteOnce]
  {{- with $storage.storageClassName }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests:
      storage: {{ $storage.size }}
{{- end }}

{{- define "bigfleet.scrapers" -}}
{{- with .Values.networkPolicy.prometheusNamespace }}
from:
  - namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: {{ . }}
{{- end }}
{{- end }}

{{- define "bigfleet.certificateSpec" -}}
usages: [digital signature, client auth, server auth]
privateKey:
  algorithm: ECDSA
  size: 256
  rotationPolicy: Always
duration: {{ .Values.certManager.duration }}
renewBefore: {{ .Values.certManager.renewBefore }}
issuerRef: {{- toYaml .Values.certManager.issuerRef | nindent 2 }}
{{- end }}

{{- /* How an administrator asks the coordinators, as the coordinator that it runs beside. */}}
{{- define "bigfleet.ctl" -}}
kubectl -n {{ .Values.namespace }} exec bigfleet-coordinator-0 -- bigfleetctl
{{- if include "bigfleet.coordinatorTLSSecret" . }} --coordinator={{ include "bigfleet.coordinatorHost" . }}:{{ .Values.coordinator.service.grpcPort }} --tls-cert=/etc/bigfleet/tls/tls.crt --tls-key=/etc/bigfleet/tls/tls.key --tls-ca=/etc/bigfleet/tls/ca.crt
{{- end }}
{{- end }}
