import { computed, signal } from '@preact/signals'

/** The sandbox of a page that was opened below `/@name`, for an address without one in its hash. */
const ofPath = /\/@([^/]+)\/__emulator\/ui\//.exec(location.pathname)?.[1]

/** The place of the user in the dashboard: everything that a link needs to show the same screen again. */
export const here = signal(read(location.hash))

/** The sandbox whose data the page shows. */
export const sandboxName = computed(() => here.value.sandbox)

addEventListener('hashchange', () => {
  here.value = read(location.hash)
})

function read(hash: string) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [sandbox = '', view = '', ...rest] = path.split('/').map(decoded)
  return {
    sandbox: sandbox || ofPath || 'default',
    view,
    /** The opened item, as the parts of its path. */
    path: rest.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The address of a view in any sandbox. */
export function linkIn(
  sandbox: string,
  view: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string>> = {},
): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const text = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return `#/${[sandbox, view, ...path].map(encodeURIComponent).join('/')}${text}`
}

/** The address of a view in the present sandbox. */
export const linkTo = (view: string, path?: readonly string[], query?: Readonly<Record<string, string>>) =>
  linkIn(here.value.sandbox, view, path, query)

/** Opens a link; `Back` returns. */
export function goTo(link: string): void {
  location.hash = link
}

/** Changes the opened item or the filter of the present view. */
export function open(
  path: readonly string[],
  query: Readonly<Record<string, string>> = here.value.query,
): void {
  goTo(linkTo(here.value.view, path, query))
}

/** Changes the query without a new entry in the history of the browser. */
export function refine(query: Readonly<Record<string, string>>): void {
  const { view, path, query: before } = here.value
  history.replaceState(null, '', linkTo(view, path, { ...before, ...query }))
  here.value = read(location.hash)
}
