// The page that a browser gets at the URL of a chain: an ordinary client of its JSON-RPC.
import { render } from 'preact'
import { App } from './app.ts'
import { ChainClient } from './data/chain.ts'
import { ChainContext } from './data/use.ts'
import { html } from './html.ts'

const origin = location.origin.replace(/^http/, 'ws')
const chain = new ChainClient(origin, location.pathname.replace(/(?<=.)\/$/, ''))
addEventListener('focus', () => chain.hurry())
document.body.textContent = ''
render(html`<${ChainContext.Provider} value=${chain}><${App} /><//>`, document.body)
