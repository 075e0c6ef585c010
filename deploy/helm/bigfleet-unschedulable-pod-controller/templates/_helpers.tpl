{{- define "controller.labels" -}}
{{ include "controller.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "controller.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* A tag, or a digest: sha256:… */}}
{{- define "controller.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "controller.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary "bigfleet-unschedulable-pod-controller" "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* V8 knows nothing of what the process keeps outside its heap: a quarter of the limit is left for that. */}}
{{- define "controller.heapMiB" -}}
{{- $limit := dig "limits" "memory" "" .Values.resources }}
{{- $limit = ternary $limit (int64 $limit | toString) (kindIs "string" $limit) }}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 }}
{{- $unit := regexFind "[A-Za-z]*$" $limit }}
{{- if and (regexMatch "^[0-9.]+[A-Za-z]*$" $limit) (hasKey $units $unit) }}
{{- divf (mulf (trimSuffix $unit $limit | float64) (get $units $unit) 0.75) 1048576 | floor | int }}
{{- end }}
{{- end }}
