// A careful client for fetch. Every failure of a call is a ClientError; Retry-After is read only in seconds.

const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: key } = process.env
const RETRIES = 2
const MAX_WAIT = 5

class ClientError extends Error {
  name = 'ClientError'
}

function waitBefore(attempt, stated) {
  const wait = /^\d+$/.test(stated ?? '') ? Number(stated) : 2 ** attempt
  if (wait > MAX_WAIT) throw new ClientError(`the service asks for a wait of ${wait} s`)
  return new Promise((resolve) => setTimeout(resolve, (wait + 0.1 + Math.random() / 5) * 1000))
}

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  for (let attempt = 0; ; attempt++) {
    let response
    let text
    try {
      const signal = AbortSignal.timeout(2000)
      response = await fetch(base + path, {
        method,
        headers,
        signal,
        ...(body && { body: JSON.stringify(body) }),
      })
      text = await response.text()
    } catch (error) {
      if (method !== 'GET' || attempt === RETRIES)
        throw new ClientError(`${method} ${path}: no whole response`, { cause: error })
      await waitBefore(attempt)
      continue
    }
    const { status } = response
    const stated = response.headers.get('retry-after')
    if (!response.ok) {
      const isRefused = [429, 503].includes(status) && stated !== null
      const mayRepeat = isRefused || (method === 'GET' && (status === 429 || status >= 500))
      if (!mayRepeat || attempt === RETRIES) throw new ClientError(`${method} ${path}: status ${status}`)
      await waitBefore(attempt, stated)
      continue
    }
    try {
      const value = JSON.parse(text)
      if (typeof value === 'object' && value !== null) return value
    } catch (error) {
      throw new ClientError(`${method} ${path}: not JSON`, { cause: error })
    }
    throw new ClientError(`${method} ${path}: not an object`)
  }
}

export async function createPage(name) {
  const page = await call('POST', '/pages', { name })
  if (typeof page.id !== 'string') throw new ClientError('a page without an id')
  return page
}

export async function listUsers(teamspace) {
  const [users, seen] = [[], new Set()]
  for (let after = ''; ; ) {
    const page = await call('GET', `/organization/teamspaces/${teamspace}/users?limit=10${after}`)
    if (!Array.isArray(page.data) || typeof page.has_more !== 'boolean')
      throw new ClientError('not a page of users')
    users.push(...page.data)
    if (!page.has_more) return users
    const last = page.data.at(-1)?.id
    if (last === undefined || seen.has(last)) throw new ClientError('the list does not advance')
    for (const { id } of page.data) seen.add(id)
    after = `&after=${last}`
  }
}
