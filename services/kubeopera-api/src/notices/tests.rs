use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

/// A web hook that answers with a status, and what was posted to it.
async fn hook(status: &'static str) -> (Secret, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/CANARY-hook", listener.local_addr().unwrap());
    let posted = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !String::from_utf8_lossy(&request).ends_with('}') {
            let mut buffer = [0; 1024];
            let read = stream.read(&mut buffer).await.unwrap();
            request.extend_from_slice(&buffer[..read]);
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nlocation: http://127.0.0.1:9/\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    });
    (Secret::new(address), posted)
}

#[tokio::test]
async fn a_notice_is_posted_as_json_and_any_success_will_do() {
    let (address, posted) = hook("204 No Content").await;
    post(&address, &json!({"is": "red"})).await.unwrap();
    let posted = posted.await.unwrap();
    assert!(posted.starts_with("POST /CANARY-hook HTTP/1.1\r\n"), "{posted}");
    assert!(posted.ends_with(r#"{"is":"red"}"#), "{posted}");
}

#[tokio::test]
async fn a_hook_that_refuses_or_leads_elsewhere_is_named_without_its_address() {
    for status in ["302 Found", "500 Internal Server Error"] {
        let (address, posted) = hook(status).await;
        let refusal = post(&address, &json!({})).await.unwrap_err();
        assert!(refusal.contains(&status[..3]) && !refusal.contains("CANARY"), "{refusal}");
        posted.await.unwrap();
    }
    let nobody = Secret::new("http://127.0.0.1:9/CANARY-hook");
    let refusal = post(&nobody, &json!({})).await.unwrap_err();
    assert!(!refusal.contains("CANARY"), "{refusal}");
}

#[test]
fn a_clusters_words_are_no_markup_in_slack() {
    assert_eq!(for_slack("<!channel> & <http://x|y>"), "&lt;!channel&gt; &amp; &lt;http://x|y&gt;");
}
