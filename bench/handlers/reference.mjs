// The same calls with the format's reference: node reference.mjs CORE FILE ADDRESS once|warm
import { pathToFileURL } from 'node:url'
import { createInterface } from 'node:readline'

const [ core, file, address, mode ] = process.argv.slice( 2 )
const { FlowMCP } = await import( pathToFileURL( core + '/src/v4/index.mjs' ) )
const { main, handlers } = await import( pathToFileURL( file ) )
const there = { ...main, root: address }
const handlerMap = handlers( { sharedLists: {}, libraries: {} } )
const call = async ( size ) => {
    const { struct, status, messages } = await FlowMCP.fetch( { main: there, handlerMap, userParams: { size }, serverParams: {}, routeName: 'listCoins' } )
    if( !( struct?.status ?? status ) ) { throw new Error( JSON.stringify( struct?.messages ?? messages ) ) }
}
const run = async ( { size, calls, callers } ) => {
    const all = []
    const begun = performance.now()
    const one = async () => {
        for( let i = 0; i < Math.floor( calls / callers ); i++ ) {
            const begun = performance.now()
            await call( size )
            all.push( ( performance.now() - begun ) * 1000 )
        }
    }
    await Promise.all( Array.from( { length: callers }, one ) )
    const each = ( performance.now() - begun ) * 1000 / all.length
    all.sort( ( a, b ) => a - b )
    return { middle: all[ Math.floor( all.length / 2 ) ], each }
}
if( mode === 'once' ) { await call( 10_000 ) } else {
    for await ( const line of createInterface( { input: process.stdin } ) ) {
        console.log( JSON.stringify( await run( JSON.parse( line ) ) ) )
    }
    console.log( JSON.stringify( { workerMB: 0 } ) )
}
process.exit( 0 )
