const FEBRUARY = Date.parse('2026-02-01T00:00:00.000Z')

/** So many minutes after the start of February. */
export const minute = (n: number) => new Date(FEBRUARY + n * 60_000).toISOString()

/** The numbers from 0 up to a count. */
export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Users `u-0`, `u-1` ... of ts-b, each created at one of the minutes; the owner of ts-b is older than all of them. */
export function crowd(
  minutes: readonly number[],
  nameOf: (n: number) => readonly [first: string, last: string] = (n) => ['Pat', `Number${n}`],
) {
  const users = minutes.map((at, n) => {
    const [first_name, last_name] = nameOf(n)
    const email = `p${n}@crowd.example`
    return { id: `u-${n}`, organization_id: 'org-1', email, first_name, last_name, created_at: minute(at) }
  })
  const membership = { teamspace_id: 'ts-b', role: 'member', created_at: '-1d' }
  return { users, memberships: users.map(({ id }, n) => ({ ...membership, id: `m-${n}`, user_id: id })) }
}
