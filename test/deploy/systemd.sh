# Run by systemd.mjs in namespaces of its own: nothing of what is mounted here is seen outside.
# Arguments: the checkout, node, a folder for the report.
set -eu
checkout=$1 node=$2 report=$3
mount --make-rprivate /
mkdir -p "$report/etc" "$report/work"
mount -t tmpfs tmpfs "$report/etc" && mkdir "$report/etc/upper" "$report/etc/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$report/etc/upper,workdir=$report/etc/work" /etc
for place in /run /srv /home /var/lib; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup

echo 'foray:x:4242:4242::/home/foray:/bin/sh' >> /etc/passwd
echo 'foray:x:4242:' >> /etc/group
mkdir -p /srv/foray /home/foray /etc/foray /var/lib/bin
echo tok-0123456789 > /etc/foray/github-token
chmod 600 /etc/foray/github-token
printf '#!/bin/sh\nexec %s %s/dist/cli.js "$@"\n' "$node" "$checkout" > /var/lib/bin/foray
chmod 755 /var/lib/bin/foray
cat > /srv/foray/WORKFLOW.md <<'WORKFLOW'
---
tracker: { kind: file, active_states: [todo], terminal_states: [done], handoff_state: review }
file: { path: issues.json }
polling: { interval_ms: 500 }
agent: { kind: mock, max_turns: 1 }
server: { port: 8080, token: $GITHUB_TOKEN }
---
Do {{ .issue.title }}.
WORKFLOW
echo '[{"id":"1","identifier":"A-1","title":"A page","state":"todo"}]' > /srv/foray/issues.json
chown -R 4242:4242 /srv/foray /home/foray

rm -rf /etc/systemd/system/*
cp "$checkout/deploy/foray.service" /etc/systemd/system/
mkdir /etc/systemd/system/foray.service.d
printf '[Service]\nEnvironment=PATH=/var/lib/bin:/usr/bin:/bin\nStandardError=append:/var/lib/foray.log\n' \
  > /etc/systemd/system/foray.service.d/here.conf
for name in sysinit basic network-online; do
  printf '[Unit]\nDefaultDependencies=no\n' > "/etc/systemd/system/$name.target"
done

observe() {
  for _ in $(seq 150); do grep -q review /srv/foray/issues.json && break || sleep 0.2; done
  ask() { curl -s -o /dev/null -w '%{http_code}' "$@" http://127.0.0.1:8080/api/v1/state; }
  pid=$(systemctl show foray -p MainPID --value)
  echo "issue=$(sed 's/.*"state":"\([a-z]*\)".*/\1/' /srv/foray/issues.json)"
  echo "user=$(stat -c %U "/proc/$pid")"
  echo "token_in_environment=$(tr '\0' '\n' < "/proc/$pid/environ" | grep -c '^GITHUB_TOKEN=' || true)"
  echo "without_token=$(ask || true)"
  echo "with_token=$(ask -H 'Authorization: Bearer tok-0123456789' || true)"
  echo "workspace=$(ls -d /var/lib/foray/foray/workspaces/*/A-1 | wc -l)"
  [ "$pid" -gt 1 ] && kill -9 "$pid"
  for _ in $(seq 150); do
    [ "$(ask -H 'Authorization: Bearer tok-0123456789' || true)" = 200 ] && break || sleep 0.2
  done
  echo "restarts=$(systemctl show foray -p NRestarts --value)"
  echo "after_restart=$(systemctl is-active foray || true)"
  systemctl stop foray
  echo "stopped=$(systemctl show foray -p ActiveState --value) $(systemctl show foray -p Result --value)"
  echo "last=$(tail -1 /var/lib/foray.log)"
}

# A control group of its own is the root of what systemd sees.
proof=/sys/fs/cgroup/foray-proof-$(basename "$report")
mkdir "$proof"
export container=other report
export -f observe
(
  echo "$BASHPID" > "$proof/cgroup.procs"
  exec unshare --cgroup --pid --fork --mount --net --ipc --uts --mount-proc --kill-child bash -c '
    umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
    mount --make-rshared /
    touch "$report/console" && mount --bind "$report/console" /dev/console
    (observe > "$report/seen" 2>&1; cp /var/lib/foray.log "$report/log"; touch "$report/done") &
    exec /lib/systemd/systemd --system --unit=foray.service --log-target=console --show-status=no'
) &
for _ in $(seq 600); do [ -e "$report/done" ] && break || sleep 0.2; done
{ kill -9 $!; wait $!; } 2> /dev/null || true
for _ in $(seq 20); do
  find "$proof" -depth -type d -exec rmdir {} + 2> /dev/null && break || sleep 0.2
done
