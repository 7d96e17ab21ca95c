#!/bin/sh
# Fills in the addresses and becomes nginx. Only /tmp is written to.
set -eu
: "${BACKEND_URL:?}" "${S3_PUBLIC_ENDPOINT_URL:?}"
# A policy names origins: the scheme and the host, without a path.
S3_ORIGIN=$(printf '%s\n' "$S3_PUBLIC_ENDPOINT_URL" | sed -E 's#^([a-z]+://[^/]+).*#\1#')
export S3_ORIGIN
envsubst '$BACKEND_URL $S3_ORIGIN' </etc/nginx/site.conf.template >/tmp/site.conf
exec nginx -c /etc/nginx/nginx.conf
