import type { AnyOperation } from '../../core/operation.ts'

/**
 * The operation of a rate window, read from its key. A key is a teamspace, then the name of the operation or a method and a
 * concrete path. Teamspace ids may contain blanks, so the key is read from its end.
 */
export function operationOf(key: string, operations: Iterable<AnyOperation>): AnyOperation | undefined {
  const concrete = / (GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(key)
  for (const operation of operations) {
    if (key.endsWith(` ${operation.name}`)) return operation
    const [, method, path = ''] = concrete ?? []
    if (operation.method === method && ends(path, operation.path)) return operation
  }
  return undefined
}

// The path of a request begins with the base path, which templates do not have.
function ends(path: string, template: string): boolean {
  const wanted = template.split('/').slice(1)
  const given = path.split('/').slice(-wanted.length)
  const before = path.split('/').slice(0, -wanted.length)
  return (
    given.length === wanted.length &&
    before.at(-1) === 'v1' &&
    wanted.every((part, index) => part.startsWith('{') || part === given[index])
  )
}
