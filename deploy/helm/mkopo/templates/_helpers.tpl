{{- define "mkopo.name" -}}
{{- if contains "mkopo" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-mkopo" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "mkopo.selector" -}}
app.kubernetes.io/name: mkopo
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mkopo.labels" -}}
{{ include "mkopo.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "mkopo.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "mkopo.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "mkopo.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* What the migrations and the instances are both told: the start reads all of it. */}}
{{- define "mkopo.settings" -}}
- { name: DATABASE_URL_FILE, value: /run/secrets/mkopo/database-url }
{{- if .Values.books }}
- { name: BOOKS_FILE, value: /run/secrets/mkopo/books }
{{- end }}
- { name: KEY_ENCRYPTION_SECRET_FILE, value: /run/secrets/mkopo/key-encryption-secret }
- { name: AUTH_URL, value: {{ .Values.hosts.auth | quote }} }
- { name: BASE_URL, value: {{ .Values.hosts.partner | quote }} }
- { name: RECORDS_URL, value: {{ .Values.hosts.records | quote }} }
- { name: FALLBACK_STYLE, value: none }
- { name: OPS_HOST, value: 0.0.0.0 }
- { name: OPS_NAMES, value: {{ printf "%s-ops,%s-ops.%s.svc%s" (include "mkopo.name" .) (include "mkopo.name" .) .Release.Namespace (empty .Values.settings.OPS_NAMES | ternary "" (printf ",%s" .Values.settings.OPS_NAMES)) | quote }} }
{{- range $name, $value := .Values.settings }}
{{- if and $value (ne $name "OPS_NAMES") }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- end }}
