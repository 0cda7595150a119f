// The page at /graphql: GraphiQL on this server, with the documents that the server offers as its first tabs.
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/graphiql.css";
import { createClient } from "graphql-ws";
import { createRoot } from "react-dom/client";

const settings = JSON.parse(document.getElementById("settings").textContent);
const scheme = location.protocol === "https:" ? "wss:" : "ws:";

// A socket per subscription would hide that several share one; a silent one would hide that the server went away.
const wsClient = createClient({
  url: `${scheme}//${location.host}/graphql`,
  lazy: true,
  keepAlive: 20_000,
  connectionParams: () => readHeaders(),
});

function readHeaders() {
  try {
    return JSON.parse(localStorage.getItem("graphiql:headers") || "{}");
  } catch {
    return {};
  }
}

const fetcher = createGraphiQLFetcher({ url: "/graphql", wsClient });

function Banner() {
  if (settings.viewer) {
    return (
      <form className="muniment-banner" method="post" action="/sign-out">
        <span>
          Signed in as <b>{settings.viewer.name}</b> ({settings.viewer.kind.toLowerCase()})
        </span>
        <button type="submit">Sign out</button>
      </form>
    );
  }
  return (
    <div className="muniment-banner muniment-nobody">
      Nobody is signed in: open the address that <code>scripts/serve</code> printed, or send
      <code>{' {"Authorization": "Bearer mun_…"} '}</code> as headers below.
    </div>
  );
}

function App() {
  return (
    <>
      <Banner />
      <GraphiQL
        fetcher={fetcher}
        defaultTabs={settings.tabs}
        defaultEditorToolsVisibility="variables"
        isHeadersEditorEnabled
        shouldPersistHeaders
      >
        <GraphiQL.Logo>
          <span className="muniment-logo">Muniment</span>
        </GraphiQL.Logo>
      </GraphiQL>
    </>
  );
}

createRoot(document.getElementById("root")).render(<App />);
