{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "operator.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* A tag, or a digest: sha256:… */}}
{{- define "operator.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "operator.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary "bigfleet-operator" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* The Secret that the process reads, whoever writes it. Empty is plaintext. */}}
{{- define "operator.tlsSecret" -}}
{{- .Values.tls.secretName | default (ternary "bigfleet-operator-tls" "" .Values.certManager.enabled) }}
{{- end }}

{{- /* V8 knows nothing of what the process keeps outside its heap: a quarter of the limit is left for that. */}}
{{- define "operator.heapMiB" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources }}
{{- $limit = ternary $limit (int64 $limit | toString) (kindIs "string" $limit) }}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- $unit := regexFind "[A-Za-z]*$" $limit }}
{{- if and (regexMatch "^[0-9.]+[A-Za-z]*$" $limit) (hasKey $units $unit) }}
{{- divf (mulf (trimSuffix $unit $limit | float64) (get $units $unit) 0.75) 1048576 | floor | int }}
{{- end }}
{{- end }}

{{- /* What no schema can say: values that need each other. */}}
{{- define "operator.checks" -}}
{{- $_ := required "bigfleet-operator: .Values.clusterID is required" .Values.clusterID }}
{{- $_ := required "bigfleet-operator: .Values.shardAddress is required" .Values.shardAddress }}
{{- if not (regexMatch ":[0-9]+$" .Values.shardAddress) }}
{{- fail (printf "bigfleet-operator: .Values.shardAddress %s has no port: write host:7780" .Values.shardAddress) }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) }}
{{- fail "bigfleet-operator: .Values.replicas above 1 needs .Values.leaderElection.enabled: two operators of one cluster take the session from each other" }}
{{- end }}
{{- if and .Values.certManager.enabled (not .Values.certManager.issuerRef.name) }}
{{- fail "bigfleet-operator: .Values.certManager.issuerRef.name is required with .Values.certManager.enabled" }}
{{- end }}
{{- if and .Values.requireTLS (not (include "operator.tlsSecret" .)) }}
{{- fail "bigfleet-operator: .Values.requireTLS needs .Values.tls.secretName or .Values.certManager.enabled" }}
{{- end }}
{{- end }}
