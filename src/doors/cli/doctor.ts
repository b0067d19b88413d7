import {
  dataDirectory,
  type Finding,
  freeSpace,
  hostClock,
  lock,
  nodeVersion,
  port,
  shippedFixtures,
} from './doctor-checks.ts'
import type { Invocation } from './invocation.ts'
import { FAILED, OK } from './usage.ts'

/** `doctor`: everything that could keep `start` from starting with the same options, one line each. */
export async function doctor({
  options,
  terminal,
}: Invocation<'port' | 'host' | 'data' | 'json'>): Promise<number> {
  const findings = [
    nodeVersion(process.versions.node),
    dataDirectory(options.data),
    freeSpace(options.data),
    await lock(options.data),
    await port(options.host, options.port),
    await shippedFixtures(),
    hostClock(),
  ]
  const ok = findings.every((finding) => finding.ok)
  terminal.out(options.json ? JSON.stringify({ ok, checks: findings }) : findings.map(lineOf).join('\n'))
  return ok ? OK : FAILED
}

function lineOf({ check, ok, detail, way_out }: Finding): string {
  const what = way_out === undefined ? detail : `${detail} ${way_out}`
  return `${(ok ? 'ok' : 'problem').padEnd(9)}${check.padEnd(12)}${what}`
}
