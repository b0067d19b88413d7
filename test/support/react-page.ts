import type { SandboxClient } from 'agent-workspace-emulator'
import { onTestFinished, vi } from 'vitest'

// Not by their names: they have no types of their own.
const { createElement, useEffect, useState } = await import('react' as string)
const { createRoot } = await import('react-dom/client' as string)

/** A page with a component of React that reads data views, and gives up after 30 seconds. */
export function pageOfViews(sandbox: SandboxClient) {
  const Views = () => {
    const [state, show] = useState('loading')
    useEffect(() => {
      const abort = new AbortController()
      const timeout = setTimeout(() => abort.abort(), 30_000)
      sandbox
        .fetch('/data-views', { signal: abort.signal })
        .then(
          () => show('loaded'),
          () => show('the service does not respond'),
        )
        .finally(() => clearTimeout(timeout))
    }, [])
    return createElement('p', null, state)
  }
  const page = aPage()
  createRoot(page.root).render(createElement(Views))
  return page
}

/** Just enough of a page for React, until the test ends. */
function aPage() {
  const window = { HTMLIFrameElement: class {} }
  const events = { addEventListener: () => {}, removeEventListener: () => {} }
  const node = (name: string) => {
    const childNodes: { textContent: string }[] = []
    const tree = {
      appendChild: (child: never) => childNodes.push(child),
      removeChild: (child: never) => childNodes.splice(childNodes.indexOf(child), 1),
    }
    const names = { nodeType: 1, nodeName: name, tagName: name, namespaceURI: 'http://www.w3.org/1999/xhtml' }
    return { ...names, ...tree, ...events, childNodes, textContent: '', ownerDocument: document }
  }
  const document: object = { nodeType: 9, defaultView: window, createElement: node, ...events }
  vi.stubGlobal('window', window)
  onTestFinished(() => void vi.unstubAllGlobals())
  const root = node('MAIN')
  return { root, text: () => root.childNodes.map(({ textContent }) => textContent).join('') }
}
