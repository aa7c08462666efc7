//! A home that this process serves over HTTP.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use axum::body::Body;
use axum::http::Request;
use deft_server::mcp::{McpServer, service};
use deft_service::tokens::TokenId;
use deft_service::{App, Workspace};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) struct TestServer {
    pub(crate) folder: TempDir,
    pub(crate) address: String,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

const REVIEW: &str = "---\nname: review\ndescription: Reviews code\nmetadata:\n  author: Ada\n---\n\n# Review\n\nRead the diff.\n";
const PLAIN: &str = "---\nname: plain\ndescription: \"Has: a colon\"\nallowed-tools: Read Write\n---\n\nOne file.\n";
const ECHO: &str = "name: echo\ndescription: Says it again\nexpose: true\ninputs:\n  - {name: text, type: string, required: true}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ text }}\"}}\noutputs: {said: \"{{ text }}\"}\n";

impl TestServer {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in [
            ("data/seeded", "0\n"),
            ("skills/review/SKILL.md", REVIEW),
            ("skills/review/references/more.md", "# More\n"),
            ("skills/plain/SKILL.md", PLAIN),
            ("skills/echo.yaml", ECHO),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let stop = CancellationToken::new();
        let (sender, receiver) = channel();
        let (home, stopped) = (folder.path().to_owned(), stop.clone());
        let thread = std::thread::spawn(move || {
            serve(home, &stopped, |address| sender.send(address).unwrap());
        });
        Self {
            folder,
            address: receiver.recv().unwrap(),
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Opens the engine of a home.
pub(crate) fn open(home: PathBuf) -> Arc<App> {
    let workspace = Workspace {
        home: Some(home),
        roots: Vec::new(),
        tell: |_| {},
        quiet: true,
        live: None,
    };
    Arc::new(App::open_following(&workspace).unwrap())
}

fn serve(home: PathBuf, stop: &CancellationToken, ready: impl FnOnce(String)) {
    let app = open(home);
    app.block_on(async {
        let server = McpServer::new(Arc::clone(&app));
        let service = Arc::new(service(server, &[], stop.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        ready(listener.local_addr().unwrap().to_string());
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.unwrap().0,
                () = stop.cancelled() => return,
            };
            let service = Arc::clone(&service);
            let handle = service_fn(move |request: Request<Incoming>| {
                let service = Arc::clone(&service);
                async move {
                    let request = request.map(Body::new);
                    Ok::<_, Infallible>(service.handle(request, &TokenId::default()).await)
                }
            });
            tokio::spawn(async move {
                let connection = hyper::server::conn::http1::Builder::new();
                drop(
                    connection
                        .serve_connection(TokioIo::new(stream), handle)
                        .await,
                );
            });
        }
    });
    // Remaining tasks may hold the engine, and the last one must not drop it with the threads that it runs
    // on.
    std::mem::forget(app);
}
