{{- define "kubeopera.name" -}}
{{- if contains "kubeopera" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-kubeopera" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "kubeopera.selector" -}}
app.kubernetes.io/name: kubeopera
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kubeopera.labels" -}}
{{ include "kubeopera.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "kubeopera.account" -}}
{{- .Values.serviceAccount.name | default (include "kubeopera.name" .) }}
{{- end }}

{{- define "kubeopera.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "kubeopera.keySecret" -}}
{{- .Values.encryptionKey.secret.name | default (printf "%s-encryption-key" (include "kubeopera.name" .)) }}
{{- end }}

{{- define "kubeopera.claim" -}}
{{- .Values.persistence.existingClaim | default (printf "%s-data" (include "kubeopera.name" .)) }}
{{- end }}

{{- /* What one value alone does not tell, said before anything is installed. */ -}}
{{- define "kubeopera.check" -}}
{{- if ne .Release.Namespace "kubeopera-system" }}
{{- fail "KubeOpera keeps its HostClusters in the namespace kubeopera-system: install it there, with --namespace kubeopera-system --create-namespace." }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.urlSecret.name) }}
{{- fail "replicas: more than one needs PostgreSQL. Name a Secret with its URL as database.urlSecret.name, or leave it at one." }}
{{- end }}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) }}
{{- fail "gateway.parentRefs: name the Gateway that takes the route." }}
{{- end }}
{{- if and .Values.provisioner.enabled (not .Values.provisioner.image) }}
{{- fail "provisioner.image: name the image of the Jobs that create clusters, KubeOpera with Terraform." }}
{{- end }}
{{- if ne (empty .Values.flux.manifest) (empty .Values.flux.manifestSha256) }}
{{- fail "flux: manifest and manifestSha256 belong together." }}
{{- end }}
{{- end }}
