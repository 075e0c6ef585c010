{{- define "provider.labels" -}}
{{ include "provider.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: provider
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "provider.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* A tag, or a digest: sha256:… */}}
{{- define "provider.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "provider.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary .Chart.Name "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* What no schema can say: values that need each other. */}}
{{- define "provider.checks" -}}
{{- with .Values.tls }}
{{- if and .enabled (not .secretName) }}
{{- fail (printf "%s: tls.secretName is required with tls.enabled" $.Chart.Name) }}
{{- end }}
{{- if and .mtls (not .enabled) }}
{{- fail (printf "%s: tls.mtls needs tls.enabled" $.Chart.Name) }}
{{- end }}
{{- if and $.Values.requireTLS (not .mtls) }}
{{- fail (printf "%s: requireTLS needs tls.enabled and tls.mtls" $.Chart.Name) }}
{{- end }}
{{- end }}
{{- end }}
