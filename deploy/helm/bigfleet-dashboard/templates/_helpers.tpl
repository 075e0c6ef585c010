{{- define "dashboard.labels" -}}
{{ include "dashboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "dashboard.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* A tag, or a digest: sha256:… */}}
{{- define "dashboard.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "dashboard.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary "bigfleet-dashboard" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* The Secret that the process reads, whoever writes it. Empty is plaintext. */}}
{{- define "dashboard.tlsSecret" -}}
{{- .Values.tls.secretName | default (ternary "bigfleet-dashboard-tls" "" .Values.certManager.enabled) }}
{{- end }}

{{- /* V8 knows nothing of what the process keeps outside its heap: a quarter of the limit is left for that. */}}
{{- define "dashboard.heapMiB" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources }}
{{- $limit = ternary $limit (int64 $limit | toString) (kindIs "string" $limit) }}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- $unit := regexFind "[A-Za-z]*$" $limit }}
{{- if and (regexMatch "^[0-9.]+[A-Za-z]*$" $limit) (hasKey $units $unit) }}
{{- divf (mulf (trimSuffix $unit $limit | float64) (get $units $unit) 0.75) 1048576 | floor | int }}
{{- end }}
{{- end }}

{{- /* Values that go together. */}}
{{- define "dashboard.checks" -}}
{{- if and (not .Values.coordinatorAddress) (not .Values.shards) }}
{{- fail "bigfleet-dashboard: nothing to show: set .Values.coordinatorAddress or .Values.shards" }}
{{- end }}
{{- if and .Values.certManager.enabled (not .Values.certManager.issuerRef.name) }}
{{- fail "bigfleet-dashboard: .Values.certManager.issuerRef.name is required with .Values.certManager.enabled" }}
{{- end }}
{{- if and .Values.requireTLS (not (include "dashboard.tlsSecret" .)) }}
{{- fail "bigfleet-dashboard: .Values.requireTLS needs .Values.tls.secretName or .Values.certManager.enabled" }}
{{- end }}
{{- if and .Values.conformance.reports (not .Values.conformance.configMap) }}
{{- fail "bigfleet-dashboard: .Values.conformance.reports needs .Values.conformance.configMap" }}
{{- end }}
{{- if and .Values.conformance.configMap (not .Values.conformance.reports) }}
{{- fail "bigfleet-dashboard: .Values.conformance.configMap needs .Values.conformance.reports, which say whose each key is" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "bigfleet-dashboard: .Values.ingress.host is required with .Values.ingress.enabled" }}
{{- end }}
{{- end }}
